import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { homedir, constants } from 'node:os'
import { environmentFor } from './environment.ts'
import { type Proxy, programOf } from './programs.ts'

export interface Started {
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** What may stand in no variable of the program. */
  readonly secrets: readonly string[]
}

/** Throws where the program's own settings lead past the proxy. */
export const checkProgram = async ({ command, args, env }: Started): Promise<void> =>
  programOf(command).check?.({ args, env, home: env['HOME'] ?? homedir(), cwd: process.cwd() })

/** Runs a program whose models are behind the proxy; resolves with the status that it ends with. */
export const runProgram = async ({ command, args, env, secrets }: Started, proxy: Proxy): Promise<number> => {
  const program = programOf(command)
  process.stderr.write(`sealgate seal: switched off in ${program.name}: ${program.off}\n`)
  process.stderr.write(`sealgate seal: not sealed: ${program.past}\n`)
  const child = spawn(command, [...(program.args?.(proxy) ?? []), ...args], {
    env: environmentFor(env, program.variables(proxy), secrets),
    stdio: 'inherit',
  })
  // A terminal tells an interrupt to both, and the program decides what it means.
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
