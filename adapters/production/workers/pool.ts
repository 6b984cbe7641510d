import cluster, { type Address, type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../core/ports/platform.ts'
import { type IpcAnswers, type IpcChannel, type IpcMessage, ipcChannel } from './ipc.ts'

/** A worker, as its leader sees it. */
export interface Member {
  readonly line: IpcChannel
  /** True when the worker has its configuration. */
  begun: boolean
  leaving: boolean
  readonly ended: Promise<void>
  kill(): void
}

/** The workers of one port; the pool keeps their number. */
export interface WorkerPool {
  readonly members: ReadonlySet<Member>
  /** Resolves when the worker listens. Rejects when the worker ends before. */
  start(): Promise<Address>
  /** Starts a successor at once. */
  replace(member: Member): void
  /** Resolves when all workers have finished their requests and ended. */
  close(lingers: boolean): Promise<void>
}

/** In ms: the first pause before a successor. Each early end doubles the pause, up to the longest one. */
const pauseMs = 250
const longestPauseMs = 10_000

/** Resolves when the worker has ended. */
const leave = (member: Member, lingers: boolean): Promise<void> => {
  member.leaving = true
  // A worker that has not begun has no open request; a worker that has ended reads no message.
  if (member.begun) member.line.ask('leave', lingers).catch(() => undefined)
  else member.kill()
  return member.ended
}

/** A letter to a worker that has just ended is dropped, since its end is already known. */
const sendingTo =
  (worker: Worker) =>
  (letter: IpcMessage): void =>
    void (worker.isConnected() && worker.send(letter, () => undefined))

interface Pool {
  readonly answersTo: (member: () => Member) => IpcAnswers
  readonly log: Log
  readonly members: Set<Member>
  closing: boolean
}

/** Starts one worker. Resolves when the worker listens; rejects when the worker ends before. */
const start = (pool: Pool): Promise<Address> =>
  new Promise((resolve, reject) => {
    const worker = cluster.fork()
    const began = performance.now()
    let end = () => {}
    const line = ipcChannel(
      sendingTo(worker),
      pool.answersTo(() => member),
    )
    const member: Member = {
      line,
      begun: false,
      leaving: false,
      ended: new Promise((resolve) => (end = resolve)),
      kill: () => worker.process.kill('SIGKILL'),
    }
    pool.members.add(member)
    let listened = false
    worker.on('message', (letter: IpcMessage) => line.hear(letter))
    worker.once('listening', (address) => {
      listened = true
      resolve(address)
    })
    const over = (code: number | null, signal: string | null) => {
      end()
      pool.members.delete(member)
      line.close()
      if (!listened) return reject(new Error('a worker ended before it listened'))
      if (member.leaving) return
      pool.log.warn('worker.ended', { code, signal })
      void again(pool, performance.now() - began > longestPauseMs ? pauseMs : 2 * pauseMs)
    }
    worker.once('exit', over)
    // A worker that failed to fork emits no `exit`.
    worker.once('error', () => worker.process.pid === undefined && over(null, null))
  })

/** Tries until a worker listens or the pool closes; the pause stays between its two bounds. */
const again = async (pool: Pool, wait: number): Promise<void> => {
  // Without any worker, this pause alone keeps the leader running.
  await sleep(wait)
  if (pool.closing) return
  await start(pool).catch(() => again(pool, Math.max(pauseMs, Math.min(longestPauseMs, wait * 2))))
}

/** Keeps the number of workers: a worker that ends unexpectedly gets a successor. */
export const workerPool = (answersTo: Pool['answersTo'], log: Log): WorkerPool => {
  const members = new Set<Member>()
  const pool: Pool = { answersTo, log, members, closing: false }
  return {
    members,
    start: () => start(pool),
    replace(member) {
      // A worker that has ended is already logged and replaced.
      if (!members.has(member)) return
      log.warn('worker.replaced')
      void leave(member, false)
      void again(pool, 0)
    },
    async close(lingers) {
      pool.closing = true
      await Promise.all([...members].map((member) => leave(member, lingers)))
    },
  }
}
