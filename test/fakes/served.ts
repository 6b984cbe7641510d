import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const program = join(process.cwd(), 'dist/adapters/production/main.js')

export interface Served {
  readonly base: string
  /** On standard output and standard error, so far. */
  readonly said: string
  /** The key that it made, as its file tells. */
  readonly key: string
  readonly child: ChildProcess
  stop(signal: NodeJS.Signals): Promise<number | null>
}

/** The environment of a gateway that keeps its data in this folder, and starts no enclave: what concerns none starts in half the time. */
export const aloneIn = (folder: string): { readonly SEALGATE_DATA: string; readonly SEALGATE_CONFIG: string } => {
  const config = join(folder, 'alone.json')
  writeFileSync(config, JSON.stringify({ enclave: { connect: ['/nowhere'] } }))
  return { SEALGATE_DATA: join(folder, 'data'), SEALGATE_CONFIG: config }
}

/** The first key of a start that said this; throws where it made none. */
export const madeKey = (text: string): string => {
  const file = /^sealgate made a key; it stands in (.+)$/m.exec(text)?.[1]
  if (file === undefined) throw new Error(`no key was made: ${text}`)
  return readFileSync(file, 'utf8').trim()
}

/** All that a started gateway says, and where it listens; `listening` rejects for a gateway that ends first. */
export const heard = (child: ChildProcess): { readonly said: () => string; readonly listening: Promise<string> } => {
  let output = ''
  let isListening = false
  const listening = new Promise<string>((resolve, reject) => {
    const hear = (part: Buffer) => {
      output += part
      // A long log would be searched anew with each of its lines.
      if (isListening) return
      const url = /^sealgate listening on (http:\S+)$/m.exec(output)?.[1]
      if (url === undefined) return
      isListening = true
      resolve(url)
    }
    child.stdout!.on('data', hear)
    child.stderr!.on('data', hear)
    child.once('exit', () => reject(new Error(output)))
  })
  return { said: () => output, listening }
}

/** The command as a user starts it, on a free port, with nothing in its environment but this. */
export const served = async (
  env: Readonly<Record<string, string>>,
  file = program,
  args: readonly string[] = [],
): Promise<Served> => {
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env['PATH'], PORT: '0', SEALGATE_LOG: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  const { said, listening } = heard(child)
  const base = await listening
  return {
    base,
    get said() {
      return said()
    },
    get key() {
      return madeKey(said())
    },
    child,
    async stop(signal) {
      child.kill(signal)
      return ((await ended) as [number | null])[0]
    },
  }
}

/** The confidential process as an operator starts it, once it listens; `told` is what it hears on standard input. */
export const enclosed = async (
  env: Readonly<Record<string, string>>,
  told: object | null = null,
  args: readonly string[] = [],
): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [...args, program, 'enclave'], { env: { PATH: process.env['PATH'], ...env } })
  child.stdin.on('error', () => undefined)
  if (told !== null) child.stdin.write(`${JSON.stringify(told)}\n`)
  let output = ''
  child.stderr.on('data', (part) => (output += part))
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => {
      throw new Error(output)
    }),
  ])
  return child
}
