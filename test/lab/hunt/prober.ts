import { Agent, type RequestOptions, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { corelessHere, forgetPeak, peakOf, residentIn, spentBy, workersOf } from './processes.ts'

/** One process, and what it answers at once whenever its loop is free. */
export interface Probed {
  readonly pid: number
  readonly options: RequestOptions
  /** Sent with each question; none when absent. */
  readonly body?: string
}

/** What happened to a process while it was watched. */
export interface Seen {
  /** Ms: the longest that its loop answered nothing, by the clock on the wall. */
  readonly silence: number
  /** Ms that its main thread worked during one such silence: other work of a busy machine is no part of it. */
  readonly stall: number
  /** The most resident bytes above `floor`. A process with workers tells those of the worker that took most. */
  readonly peak: number
  /** Bytes resident when the watch began. */
  readonly floor: number
  /** Ms that its main thread ran. */
  readonly ran: number
  /** Of each question in their order: ms that the main thread worked meanwhile, and ms by the clock on the wall. */
  readonly works: readonly number[]
  readonly waits: readonly number[]
  /** Statuses but 200. */
  readonly refused: readonly number[]
}

/** Ms between two questions, and ms after which the one is given up. */
const [pause, patience] = [3, 180_000]
const { gateway, enclave } = workerData as Readonly<Record<'gateway' | 'enclave', Probed>>

/** Asks one process again and again, by turns on a connection of its own and on a new one. */
const lane = ({ pid, options, body }: Probed) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const none = () => ({ stall: 0, silence: 0, refused: [] as number[], works: [] as number[], waits: [] as number[] })
  let seen = none()
  let begun = { floors: new Map([[pid, 0]]), ran: 0 }
  let asked = 0
  let isNew = false
  let answered = () => {}

  const answers = (): Promise<boolean> =>
    new Promise((resolve) => {
      const asking = request({ ...options, agent: isNew ? false : agent, timeout: patience }, (answer) => {
        if (answer.statusCode !== 200) seen.refused.push(answer.statusCode ?? 0)
        answer.resume().once('end', () => resolve(true))
        answer.once('error', () => resolve(false))
      })
      asking.once('timeout', () => asking.destroy())
      asking.once('error', () => resolve(false)).end(body)
    })

  const probe = async () => {
    const [before, coreless] = [spentBy(pid), corelessHere()]
    asked = performance.now()
    isNew = !isNew
    const well = await answers()
    const silence = performance.now() - asked
    // A connection that is cut at once says nothing of the loop; the next probe makes another.
    if (well || silence > 1_000) {
      // While this thread has no core, an answer may lie here, and the process works for others.
      const work = Math.max(0, Math.min(silence, spentBy(pid) - before) - (corelessHere() - coreless))
      seen.stall = Math.max(seen.stall, work)
      seen.silence = Math.max(seen.silence, silence)
      seen.works.push(work)
      seen.waits.push(silence)
    }
    answered()
    setTimeout(probe, pause)
  }
  void probe()

  return {
    begin() {
      seen = none()
      const all = [pid, ...workersOf(pid)]
      all.forEach(forgetPeak)
      begun = { floors: new Map(all.map((each) => [each, residentIn(each)])), ran: spentBy(pid) }
    },
    /** Resolves once a question was answered that was asked after this. */
    async end(): Promise<Seen> {
      const now = performance.now()
      while (asked < now) await new Promise<void>((resolve) => (answered = resolve))
      const peak = Math.max(0, ...[...begun.floors].map(([each, floor]) => peakOf(each) - floor))
      return { ...seen, peak, floor: begun.floors.get(pid) ?? 0, ran: spentBy(pid) - begun.ran }
    },
  }
}

const lanes: Record<string, ReturnType<typeof lane>> = { gateway: lane(gateway), enclave: lane(enclave) }

parentPort!.on('message', async (word: 'begin' | 'end' | { readonly victim: Probed }) => {
  if (typeof word === 'object') lanes['victim'] = lane(word.victim)
  if (word === 'end') {
    const all = Object.entries(lanes).map(async ([name, { end }]) => [name, await end()] as const)
    return parentPort!.postMessage(Object.fromEntries(await Promise.all(all)))
  }
  for (const { begin } of Object.values(lanes)) begin()
  parentPort!.postMessage(null)
})
