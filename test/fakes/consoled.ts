import { spawn } from 'node:child_process'
import type { Test } from 'tap'
import { program } from './served.ts'

export interface Consoled {
  /** As the command prints it, with its token. */
  readonly address: string
  readonly base: string
  readonly token: string
  readonly pid: number
}

/** `sealgate console` as a user starts it, on a free port. */
export const consoled = async (
  t: Test,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Consoled> => {
  const child = spawn(process.execPath, [program, 'console', '--port', '0', ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  const address = await new Promise<string>((resolve, reject) => {
    const hear = (part: Buffer): void => {
      output += part
      const address = /^sealgate console listening on (http:\S+)\n$/m.exec(output)?.[1]
      if (address !== undefined) resolve(address)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('exit', () => reject(new Error(output)))
  })
  const { origin, hash } = new URL(address)
  return { address, base: origin, token: hash.slice(1), pid: child.pid! }
}
