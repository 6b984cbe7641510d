import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import type { Gateway, Program } from './programs.ts'

const run = promisify(execFile)

/** A program on the disk, with homes of its own. */
export interface Installed {
  /** A new home, and a note in it with these words. */
  home(name: string, words: string): Promise<{ readonly home: string; readonly note: string }>
  /** What it says to its end. */
  inTheClear(gateway: Gateway, home: string, prompt: string): Promise<string>
  behindSeal(gateway: Gateway, home: string, prompt: string): Promise<string>
  /** Its command, for what it does besides, and the environment in which it runs. */
  readonly bin: string
  environment(home: string): Record<string, string>
}

/** The programs are large, so they are installed only where somebody asks for them. */
const asked = process.env['SEALGATE_PROGRAMS'] ?? ''

/** All of them, or the one that is named. */
export const unwanted = ({ name }: Program): string | false =>
  asked !== '1' && asked !== name && 'SEALGATE_PROGRAMS=1 installs and runs it'

const main = resolve('dist/adapters/production/main.js')

/** Ms after which a program is given up. */
const patience = 300_000

const install = (prefix: string, name: string, PATH: string) =>
  run('npm', ['install', '--no-audit', '--no-fund', '--prefix', prefix, name], {
    maxBuffer: 1 << 26,
    env: { ...process.env, PATH },
  })

/** The Node that stands first on the path: a program may be a script of a library. */
const nodeOf = (path: string): string => join(path.split(delimiter)[0]!, 'node')

/** The newest release, by npm, under the Node that it asks for. */
export const installed = async (t: Test, { command, node, package: name, ...program }: Program): Promise<Installed> => {
  const place = await mkdtemp(join(tmpdir(), 'sealgate-program-'))
  t.teardown(() => rm(place, { recursive: true, force: true, maxRetries: 5 }))
  let path = process.env['PATH'] ?? ''
  if (node !== undefined && Number(process.versions.node.split('.')[0]) < node) {
    await install(join(place, 'node'), `node@${node}`, path)
    path = join(place, 'node/node_modules/node/bin') + delimiter + path
  }
  await install(place, name, path)
  const bin = command === 'node' ? nodeOf(path) : join(place, 'node_modules/.bin', command)
  const own = (HOME: string) => ({ PATH: path, HOME, TERM: 'dumb', CI: '1' })
  return {
    bin,
    environment: own,
    async home(name, words) {
      const home = join(place, name)
      const note = join(home, 'note.txt')
      await mkdir(home)
      await writeFile(note, `${words}\n`)
      return { home, note }
    },
    async inTheClear(gateway, home, prompt) {
      const { args, env } = await program.start(gateway, home, prompt)
      return ended(bin, args, home, { ...own(home), ...env })
    },
    async behindSeal({ base, key }, home, prompt) {
      const { args, env } = await program.sealed(home, prompt)
      const seal = [main, 'seal', '--allow-insecure-dev', '--', bin, ...args]
      return ended(process.execPath, seal, home, { ...own(home), ...env, SEALGATE_URL: base, SEALGATE_KEY: key })
    },
  }
}

const ended = (file: string, args: readonly string[], cwd: string, env: Record<string, string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
    const late = setTimeout(() => child.kill('SIGKILL'), patience)
    child.once('error', reject)
    child.once('exit', () => {
      clearTimeout(late)
      resolve(output)
    })
  })
