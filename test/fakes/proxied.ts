import { spawn } from 'node:child_process'
import { once } from 'node:events'
import OpenAI from 'openai'
import type { Test } from 'tap'

/** As on a system that doesn't tell who owns a connection. */
export const ownerless =
  "import { seal } from './dist/adapters/local/seal.js'\nawait seal(process.argv.slice(1), process.env, Promise.resolve(null))"

const program = "import { seal } from './dist/adapters/local/seal.js'\nawait seal(process.argv.slice(1), process.env)"

export interface Proxy {
  readonly url: string
  readonly openai: OpenAI
  readonly said: () => string
  stop(): Promise<number | null>
}

/** The command as a user starts it, on a free port. */
export const sealing = async (
  t: Test,
  args: readonly string[],
  env: Record<string, string> = {},
  text = program,
): Promise<Proxy> => {
  const command = ['--input-type=module', '--eval', text, '--', '--port', '0', ...args]
  const child = spawn(process.execPath, command, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (part: Buffer) => {
      output += part
      const url = /^sealgate seal listening on (http:\S+)\n$/m.exec(output)?.[1]
      if (url) resolve(url)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('exit', () => reject(new Error(output)))
  })
  return {
    url,
    openai: new OpenAI({ baseURL: url, apiKey: 'not-needed', maxRetries: 0 }),
    said: () => output,
    async stop() {
      child.kill('SIGTERM')
      return ((await ended) as [number | null])[0]
    },
  }
}
