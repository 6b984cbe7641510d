import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { environmentFor } from './environment.ts'
import { type Program, type Proxy, programOf } from './programs.ts'
import type { ProgramStart } from './program-settings.ts'

/** A program as the command line names it, with the environment that it would have without the proxy. */
export interface ProgramToRun {
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Texts that no variable of the program may contain. */
  readonly secrets: readonly string[]
}

const placeOf = ({ args, env }: ProgramToRun): ProgramStart => ({
  args,
  env,
  home: env['HOME'] ?? homedir(),
  cwd: process.cwd(),
  etc: '/etc',
})

/** Throws where the program's own settings lead past the proxy. */
export const checkProgram = async (run: ProgramToRun): Promise<void> => programOf(run.command).check?.(placeOf(run))

/** Runs a program whose models are behind the proxy; resolves with the status that it ends with. */
export const runProgram = async (started: ProgramToRun, proxy: Proxy): Promise<number> => {
  const program = programOf(started.command)
  process.stderr.write(`sealgate seal: switched off in ${program.name}: ${program.off}\n`)
  process.stderr.write(`sealgate seal: not sealed: ${program.past}\n`)
  const settings = await program.settings?.(proxy, placeOf(started))
  if (settings === undefined) return run(started, program, proxy, '')
  const folder = await mkdtemp(join(tmpdir(), 'sealgate-seal-'))
  try {
    const file = join(folder, 'settings.json')
    await writeFile(file, JSON.stringify(settings))
    return await run(started, program, proxy, file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A program that a signal ended gives 128 and the number of the signal, as shells do. */
const run = async (
  { command, args, env, secrets }: ProgramToRun,
  program: Program,
  proxy: Proxy,
  file: string,
): Promise<number> => {
  const child = spawn(command, [...(program.args?.(proxy, file) ?? []), ...args], {
    env: environmentFor(env, program.variables(proxy, file), secrets),
    stdio: 'inherit',
  })
  // A terminal sends an interrupt to both processes, and the program decides on its meaning.
  const passed = { SIGTERM: () => child.kill('SIGTERM'), SIGHUP: () => child.kill('SIGHUP'), SIGINT: () => {} }
  for (const [signal, pass] of Object.entries(passed)) process.on(signal, pass)
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
  } catch (cause) {
    throw new Error(`${command} could not be started`, { cause })
  } finally {
    for (const [signal, pass] of Object.entries(passed)) process.off(signal, pass)
  }
}
