import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Ability, abilities } from '../../../plugins/shared/optional-package.ts'

/** Whether the package stands in a folder of packages that this program would find. */
export const isInstalled = (name: string, from = dirname(fileURLToPath(import.meta.url))): boolean => {
  if (existsSync(join(from, 'node_modules', name, 'package.json'))) return true
  const above = dirname(from)
  return above !== from && isInstalled(name, above)
}

/** An ability needs all of its packages. */
export const isThere = ({ packages }: Ability): boolean => Object.keys(packages).every((name) => isInstalled(name))

/** Abilities whose packages were left out. */
export const missingAbilities = (): readonly Ability[] => abilities.filter((ability) => !isThere(ability))
