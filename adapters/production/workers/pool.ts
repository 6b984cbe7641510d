import cluster, { type Address } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../core/ports/platform.ts'
import { type Answers, type Exchange, type Letter, exchange } from './ipc.ts'

/** One worker, as the process that leads it sees it. */
export interface Member {
  readonly line: Exchange
  /** It has been told what to serve. */
  begun: boolean
  leaving: boolean
  readonly ended: Promise<void>
  kill(): void
}

export interface Crew {
  readonly members: ReadonlySet<Member>
  /** Resolves when it listens; rejects when it ended before. */
  start(): Promise<Address>
  /** Another one takes its place at once. */
  replace(member: Member): void
  /** Resolves when all have ended after what they had under way. */
  close(lingers: boolean): Promise<void>
}

const pause = 250
const longest = 10_000

/** Keeps as many workers as were started; one that ends unasked is started anew. */
export const crew = (answersTo: (member: () => Member) => Answers, log: Log): Crew => {
  const members = new Set<Member>()
  let closing = false

  const start = (): Promise<Address> =>
    new Promise((resolve, reject) => {
      const worker = cluster.fork()
      const began = performance.now()
      let end = () => {}
      const send = (letter: Letter) => void (worker.isConnected() && worker.send(letter, () => undefined))
      const line = exchange(
        send,
        answersTo(() => member),
      )
      const member: Member = {
        line,
        begun: false,
        leaving: false,
        ended: new Promise((resolve) => (end = resolve)),
        kill: () => worker.process.kill('SIGKILL'),
      }
      members.add(member)
      let listened = false
      worker.on('message', (letter: Letter) => line.hear(letter))
      worker.once('listening', (address) => {
        listened = true
        resolve(address)
      })
      const over = (code: number | null, signal: string | null) => {
        end()
        members.delete(member)
        line.close()
        if (!listened) return reject(new Error('a worker ended before it listened'))
        if (member.leaving) return
        log.warn('worker.ended', { code, signal })
        void again(performance.now() - began > longest ? pause : 2 * pause)
      }
      worker.once('exit', over)
      // One that could not be forked never ends.
      worker.once('error', () => worker.process.pid === undefined && over(null, null))
    })

  const again = async (wait: number): Promise<void> => {
    await sleep(wait, undefined, { ref: false })
    if (closing) return
    await start().catch(() => again(Math.max(pause, Math.min(longest, wait * 2))))
  }

  const leave = (member: Member, lingers: boolean): Promise<void> => {
    member.leaving = true
    // One that has not begun hears nothing yet, and has nothing under way; one that is gone already needs no telling.
    if (member.begun) member.line.ask('leave', lingers).catch(() => undefined)
    else member.kill()
    return member.ended
  }

  return {
    members,
    start,
    replace(member) {
      // One that has ended was told of, and has its successor already.
      if (!members.has(member)) return
      log.warn('worker.replaced')
      void leave(member, false)
      void again(0)
    },
    async close(lingers) {
      closing = true
      await Promise.all([...members].map((member) => leave(member, lingers)))
    },
  }
}
