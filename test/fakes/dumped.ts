import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { heard, madeKey } from './served.ts'
import { formsOf } from './traces.ts'

/** A gateway as a user starts it, with its enclave in a process of its own, ready to write down its heap. */
export interface Dumped {
  readonly base: string
  readonly key: string
  readonly child: ChildProcess
  readonly said: () => string
}

const unlimited = { requestsPerSecond: null, concurrentRequests: null, tokensPerMinute: null }

export const dumped = async (t: Test, folder: string, own: object): Promise<Dumped> => {
  const config = {
    server: { port: 0, linger: 0, drain: 2000 },
    limits: { key: unlimited, organization: unlimited },
    tools: {},
    ...own,
  }
  const file = join(folder, 'config.json')
  await writeFile(file, JSON.stringify(config))
  const main = join(process.cwd(), 'dist/adapters/production/main.js')
  const child = spawn(process.execPath, ['--heapsnapshot-signal=SIGUSR2', main], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      SEALGATE_CONFIG: file,
      SEALGATE_DATA: join(folder, 'data'),
      SEALGATE_LOG: 'info',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const { said, listening } = heard(child)
  const base = await listening
  return { base, key: madeKey(said()), child, said }
}

/** What lives in the heap of that process, by its own account. */
export const heapOf = async ({ child, base }: Dumped, folder: string): Promise<Buffer> => {
  child.kill('SIGUSR2')
  await sleep(200)
  // It answers again once everything is written.
  await (await fetch(`${base}/health/live`)).text()
  const name = (await readdir(folder)).find((file) => file.endsWith('.heapsnapshot'))
  if (name === undefined) throw new Error('There is no snapshot')
  const bytes = await readFile(join(folder, name))
  if (bytes.subarray(-3).toString().trimEnd().at(-1) !== '}') throw new Error('The snapshot is cut')
  return bytes
}

/** The process of the enclave, which the gateway starts; Linux alone tells it. */
export const enclaveOf = async ({ child: { pid } }: Dumped): Promise<number> => {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')
  for (const child of children)
    if ((await readFile(`/proc/${child}/cmdline`, 'utf8')).endsWith('\0enclave\0')) return Number(child)
  throw new Error('There is no enclave')
}

const piece = 16 * 1024 * 1024

/** Longer than any mark in any form, so that none is missed between two pieces. */
const overlap = 1024

export interface Searched {
  /** How many bytes were read. */
  readonly bytes: number
  /** Each as `mark as form`. */
  readonly found: readonly string[]
}

/** Searches what a process may write to: its heap, buffers beside it, stacks, and what it has let go and not yet used again. */
export const memoryOf = async (pid: number, marks: readonly string[]): Promise<Searched> => {
  const wanted = marks.flatMap((mark) =>
    formsOf(mark).map(({ name, bytes }) => [`${mark} as ${name}`, Buffer.from(bytes, 'latin1')] as const),
  )
  const found = new Set<string>()
  let bytes = 0
  const memory = await open(`/proc/${pid}/mem`, 'r')
  const buffer = Buffer.alloc(piece + overlap)
  try {
    for (const [from, to] of writable(await readFile(`/proc/${pid}/maps`, 'utf8'))) {
      for (let at = from; at < to; at += piece) {
        const length = Math.min(piece + overlap, to - at)
        // Pages that are gone meanwhile, or that no one may read, have nothing to search.
        const { bytesRead } = await memory.read(buffer, 0, length, at).catch(() => ({ bytesRead: 0 }))
        bytes += bytesRead
        const read = buffer.subarray(0, bytesRead)
        for (const [name, form] of wanted) if (read.includes(form)) found.add(name)
      }
    }
  } finally {
    await memory.close()
  }
  return { bytes, found: [...found] }
}

/** The mappings that hold data of a process, as their first byte and the one behind their last. */
const writable = (maps: string): readonly (readonly [from: number, to: number])[] =>
  maps.split('\n').flatMap((line) => {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
    return from === undefined || to === undefined ? [] : [[parseInt(from, 16), parseInt(to, 16)] as const]
  })
