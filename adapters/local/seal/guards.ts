import type { Fitting } from '../../../core/container.ts'
import type { Guard } from '../../../core/ports/guard.ts'
import { guardsOf, type NamedPlugins } from '../../production/config/named-plugins.ts'
import { readConfig } from '../../production/config/read-config.ts'

interface Wanted {
  readonly redact?: boolean
  readonly guards?: string
}

/** Guards of this machine. Values that they hide are known here alone. */
export const ownGuards = async ({ redact, guards: file }: Wanted): Promise<readonly Fitting<Guard>[]> => {
  const named = file === undefined ? {} : await inFile(file)
  return guardsOf(redact ? { redact: { restore: true }, ...named } : named, ['guards'])
}

/** Rejects with the file's name in front of the fault. */
const inFile = async (file: string): Promise<NamedPlugins> => {
  const { value } = await readConfig(file).catch((cause: unknown) => {
    throw new Error(`--guards ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  })
  return value as NamedPlugins
}
