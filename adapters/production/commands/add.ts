import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Ability, abilities, languageSpecs, specsOf } from '../../../plugins/shared/optional-package.ts'
import { didYouMean } from '../config/did-you-mean.ts'
import { commandUsages } from './help.ts'

/** Package managers by their lock file. */
const managers: readonly (readonly [file: string, program: string, verb: string])[] = [
  ['pnpm-lock.yaml', 'pnpm', 'add'],
  ['yarn.lock', 'yarn', 'add'],
  ['bun.lock', 'bun', 'add'],
]

/** Installs the packages of abilities into the project of the working folder. */
export const add = (args: readonly string[]): void => {
  const options = { 'dry-run': { type: 'boolean' } } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  if (positionals.length === 0) throw new Error(commandUsages.add)
  const languages = positionals.includes('ocr') ? positionals.filter(isLanguage) : []
  const named = positionals.filter((name) => !languages.includes(name))
  const chosen = named.includes('all') ? abilities : named.map(abilityOf)
  const [, program, verb] = managers.find(([file]) => existsSync(file)) ?? ['', 'npm', 'install']
  const specs = [...specsOf(chosen), ...languageSpecs(languages)]
  process.stdout.write(`${[program, verb, ...specs].join(' ')}\n`)
  if (values['dry-run']) return
  const { status, error } = spawnSync(program, [verb, ...specs], { stdio: 'inherit' })
  if (error !== undefined) throw new Error(`${program} could not be started`, { cause: error })
  process.exitCode = status ?? 1
}

const tongues = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

/** A name of Tesseract, such as `deu` or `chi_sim`: a language of ISO 639, or Fraktur. Neither `ocr` nor `all` is one. */
const isLanguage = (name: string): boolean =>
  /^[a-z]{3}(?:_[a-z]{3,4}){0,2}$/.test(name) && (name === 'frk' || tongues.of(name.slice(0, 3)) !== undefined)

/** Throws with the nearest name, since a mistyped one would install nothing. */
const abilityOf = (name: string): Ability => {
  const names = abilities.map((ability) => ability.name)
  const found = abilities.find((ability) => ability.name === name)
  if (found !== undefined) return found
  const there = `there are all, ${names.join(', ')}, and after ocr languages such as deu`
  throw new Error(`there is no ${name} to add${didYouMean(name, names)}; ${there}`)
}
