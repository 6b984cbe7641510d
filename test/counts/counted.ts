import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { heard } from '../fakes/served.ts'
import { eagerly } from '../lab/bench/pace.ts'

/** What a process has used since its start. */
interface Used {
  readonly promises: number
  readonly systemCalls: number
  /** Of the heap. */
  readonly bytes: number
  /** Collections of garbage. */
  readonly collections: number
}

/** A program whose promises, system calls and garbage are counted. */
export interface Counted {
  readonly base: string
  used(question?: 'hook' | 'unhook' | 'collect'): Promise<Used>
  stop(): Promise<void>
}

const probe = fileURLToPath(new URL('./probe.js', import.meta.url))
/** MB of young objects: more than any load makes. */
const young = 256
const options = [
  '--expose-gc',
  '--no-memory-reducer',
  `--min-semi-space-size=${young}`,
  `--max-semi-space-size=${young}`,
  '--import',
  probe,
]

/** Starts a program that says where it listens, or sends its port. */
export const counted = async (
  file: string,
  env: Readonly<Record<string, string>>,
  listens: (child: ChildProcess) => Promise<string> = (child) => heard(child).listening,
): Promise<Counted> => {
  const child = spawn(process.execPath, [...options, file], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const ended = once(child, 'exit')
  const base = await listens(child)
  return {
    base,
    async used(question) {
      child.send(question ?? 'look')
      return ((await once(child, 'message')) as [Used])[0]
    },
    async stop() {
      child.kill()
      await ended
    },
  }
}

/** One kind of request, sent again and again. */
export interface Sent {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What one request takes, apart from what is counted beside it. */
export interface Cost {
  readonly promises: number
  readonly systemCalls: number
  readonly bytes: number
}

/** Requests at once, as many callers send them. */
export const atOnce = 8

/** So many requests, each sent by itself. */
export type Play = (base: string, times: number) => Promise<void>

/** Sends a request again and again. */
export const sending =
  ({ path, headers, body }: Sent): Play =>
  async (base, times) => {
    const dispatcher = new Agent({ connections: atOnce, pipelining: 1 })
    await eagerly(
      async () => {
        const answer = await request(base + path, {
          ...{ method: 'POST', body, dispatcher },
          headers: { 'content-type': 'application/json', ...headers },
        })
        const text = await answer.body.text()
        if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`)
      },
      atOnce,
      times,
    )
    await dispatcher.close()
  }

/** Rounds of which the least counts: the work of the process itself falls into some of them. */
const rounds = 2
/** Rounds that are tried for those. */
const tries = 8

/** Null for a round in which garbage was collected, since what was made is no longer there. */
const roundOf = async (subject: Counted, play: Play, requests: number): Promise<Cost | null> => {
  const before = await subject.used('collect')
  await play(subject.base, requests)
  const after = await subject.used()
  if (after.collections > before.collections) return null
  const hooked = await subject.used('hook')
  await play(subject.base, requests)
  const last = await subject.used('unhook')
  return {
    promises: (last.promises - hooked.promises) / requests,
    systemCalls: (after.systemCalls - before.systemCalls) / requests,
    bytes: (after.bytes - before.bytes) / requests,
  }
}

/**
 * Plays the request until its code has run in, then counts; promises come last, since their hook makes garbage of its own.
 * Code that V8 has not compiled to the end makes objects that compiled code leaves out.
 */
export const costOf = async (subject: Counted, play: Play, requests: number, runIn = 3 * requests): Promise<Cost> => {
  await play(subject.base, runIn)
  const clean: Cost[] = []
  for (let round = 0; clean.length < rounds && round < tries; round++) {
    const cost = await roundOf(subject, play, requests)
    if (cost !== null) clean.push(cost)
  }
  if (clean.length === 0) throw new Error('Garbage was collected in each round')
  return leastOf(clean)
}

const leastOf = (costs: readonly Cost[]): Cost => {
  const least = (name: keyof Cost) => Math.min(...costs.map((cost) => cost[name]))
  return { promises: least('promises'), systemCalls: least('systemCalls'), bytes: least('bytes') }
}

/** Counts that are made while a cost is beyond its bound: on a busy machine the work of the process itself falls into each round. */
const counts = 6

/** The cost, counted again while the cost is beyond its bound. */
export const costWithin = async (count: () => Promise<Cost>, isWithin: (cost: Cost) => boolean): Promise<Cost> => {
  const made = [await count()]
  while (!isWithin(leastOf(made)) && made.length < counts) made.push(await count())
  return leastOf(made)
}
