import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from '../until.ts'
import { type Dumped, heapOf, memoryOf } from './dumped.ts'
import type { Recorded } from './recorded.ts'
import { filesIn, type Places, traces } from './traces.ts'

/** Names of places in a conversation, each as a text that stands nowhere else. */
export type Mark = (place: string) => string

export interface Canary {
  /** Begins every mark. */
  readonly root: string
  /** A word that the process has to hold: the backend never answers it. */
  readonly control: string
}

/** The texts of a new session, which stand nowhere else. */
export const newCanary = (): Canary & { readonly mark: Mark } => {
  const root = `zq${randomBytes(8).toString('hex')}`
  return { root, control: `zc${randomBytes(8).toString('hex')}`, mark: (place) => `${root}x${place}` }
}

/** Keeps a request in the clear open, whose words the process has to hold. */
const inTheClear = async ({ base, key }: Dumped, { asked: requests }: Recorded, words: string): Promise<() => void> => {
  const leaving = new AbortController()
  const before = requests.length
  const messages = [{ role: 'user', content: words }]
  void fetch(`${base}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ model: 'plain', max_tokens: 9, messages }),
    signal: leaving.signal,
  }).catch(() => undefined)
  if (!(await until(() => requests.length > before))) throw new Error('The backend is not asked in the clear')
  return () => leaving.abort()
}

/** Ends the gateway, and searches its memory, its heap, and all that it wrote. Its model `plain` is open to callers. */
export const nothingStays = async (
  t: Test,
  [gateway, folder]: readonly [gateway: Dumped, folder: string],
  backend: Recorded,
  { root, control }: Canary,
): Promise<void> => {
  const leave = await inTheClear(gateway, backend, control)
  const memory = await memoryOf(gateway.child.pid!, [root, control])
  const heap = await heapOf(gateway, folder)
  leave()
  const ended = once(gateway.child, 'exit')
  gateway.child.kill('SIGTERM')
  await ended
  const places: Places = new Map([['output', Buffer.from(gateway.said())], ...(await filesIn(join(folder, 'data')))])
  t.match(gateway.said(), /"route":"POST \/rvenc\/chat\/completions"/, 'it logs')
  t.same(traces([root], places), [], 'output and files')
  t.same(traces([root], new Map([['heap', heap]])), [], 'heap')
  t.ok(memory.bytes > 50_000_000, `${memory.bytes >> 20} MiB of memory`)
  t.same(
    memory.found.filter((name) => name.startsWith(root)),
    [],
    'memory',
  )
  t.ok(traces([control], new Map([['heap', heap]])).length > 0, 'what is sent in the clear is found in the heap')
  t.ok(memory.found.includes(`${control} as plain`), `and in memory: ${memory.found.join(', ')}`)
}
