import { createClient } from '@keyv/redis'
import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/platform.ts'

/** In ms: the pause between two attempts while Redis is down. */
const retryMs = 500
/** In ms: the longest time of one attempt. */
const attempt = 1_000
/** In ms: how long an abandoned connection may still deliver late answers. */
const linger = 30_000

/** A command without a connection fails at once, since a queue would let requests wait for Redis. */
const draw = (url: string) =>
  createClient({
    url,
    disableOfflineQueue: true,
    disableClientInfo: true,
    socket: { connectTimeout: retryMs, reconnectStrategy: false },
  })

/** The client that `draw` makes; the library's own type depends on the modules that are asked for. */
export type Client = ReturnType<typeof draw>

/** A connection to Redis that is either ready at once or absent. `F` is the client on it. */
export interface Redis<F> {
  /**
   * Throws only Unavailable: when no answer comes in time, and at once while Redis is known to be down. `undo` reverses
   * the effect of a late answer.
   */
  ask<T>(question: (face: F) => Promise<T>, undo?: (answer: T, face: F) => Promise<unknown>): Promise<T>
  /** False while Redis is down: a question is not even sent. */
  stands(): boolean
  close(): void
}

/** A connection; times in ms of this process. */
interface Line<F> {
  readonly client: Client
  readonly face: F
  readonly since: number
  /** The time of the last answer. */
  heard: number
  waiting: number
}

/** Limits and cache have a connection each, so that neither waits for the other's answers. */
export interface RedisOptions {
  readonly url: string
  /** In ms: the longest time of an answer. */
  readonly patience: number
  /** The prefix of every key. */
  readonly prefix: string
  /** The purpose of the connection. */
  readonly use: 'limits' | 'cache'
  readonly log: Log
}

/** Destroys at once: waiting commands are rejected, and no answer is read any more. */
const hangUp = (client: Client) => {
  if (client.isOpen) client.destroy()
}

/** A code of the system or of Redis (`WRONGPASS`), otherwise the class; never the message. */
const reasonOf = (fault: unknown): string => {
  if (!(fault instanceof Error)) return 'Error'
  const { name } = fault.constructor
  const replied = name === 'SimpleError' || name === 'BlobError' ? /^[A-Z]{2,32}(?= )/.exec(fault.message) : null
  return replied?.[0] ?? ('code' in fault && typeof fault.code === 'string' ? fault.code : name)
}

type Lose<F> = (line: Line<F>, why: string) => void

/** A connection to a Redis that accepts writes, or the reason why there is none. The probe is a writable key. */
const reachedLine = async <F>(
  url: string,
  probe: string,
  wear: (client: Client) => F,
  lose: Lose<F>,
): Promise<Line<F> | string> => {
  const client = draw(url)
  let line: Line<F> | null = null
  client.on('error', (fault) => line && lose(line, reasonOf(fault)))
  let isLate = false
  const limit = setTimeout(() => {
    isLate = true
    hangUp(client)
  }, attempt)
  try {
    await client.connect()
    // The probe writes, since a replica and a full store still answer a ping.
    await client.set(probe, '', { expiration: { type: 'PX', value: attempt } })
    const now = performance.now()
    return (line = { client, face: wear(client), since: now, heard: now, waiting: 0 })
  } catch (fault) {
    hangUp(client)
    // A client that is closed amid its connecting throws an error of its own.
    return isLate ? 'silent' : reasonOf(fault)
  } finally {
    clearTimeout(limit)
  }
}

/** Why a gateway would find this Redis down; null where it accepts writes. */
export const redisFault = async (url: string, probe: string): Promise<Error | null> => {
  const found = await reachedLine(
    url,
    probe,
    () => null,
    () => undefined,
  ).catch(reasonOf)
  if (typeof found === 'string')
    return Object.assign(new Error('Redis is down'), { code: found === 'silent' ? 'ETIMEDOUT' : found })
  hangUp(found.client)
  return null
}

const down = (cause?: unknown): Unavailable => new Unavailable(undefined, { cause })

/** Logs each change of state. Null means up; a text is the reason for being down. */
const reporting = (log: Log, use: RedisOptions['use'], closing: AbortSignal) => {
  let last: string | null | undefined = undefined
  return (why: string | null): void => {
    if (last === why || closing.aborted) return
    last = why
    if (why === null) log.info('redis.up', { for: use })
    else log.warn('redis.down', { for: use, why })
  }
}

interface Asking<F> {
  readonly patience: number
  readonly lose: Lose<F>
  readonly retire: (line: Line<F>) => void
}

/** Sends a question over a connection. An answer after `patience` ms is undone. */
const askOver = <F, T>(
  line: Line<F>,
  { patience, lose, retire }: Asking<F>,
  question: (face: F) => Promise<T>,
  undo?: (answer: T, face: F) => Promise<unknown>,
): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const began = performance.now()
    let open = true
    const giveUp = () => {
      if (!open) return
      open = false
      reject(down())
      // A slow question alone does not make a connection silent.
      if (line.heard < began) lose(line, 'silent')
    }
    const timer = setTimeout(() => {
      // Arrived answers are read first, and a busy process gets a little more time: neither is a silent Redis.
      if (performance.now() - began > patience + 4) setTimeout(giveUp, 4)
      else setImmediate(giveUp)
    }, patience)
    line.waiting++
    question(line.face)
      .then(
        async (answer) => {
          line.heard = performance.now()
          clearTimeout(timer)
          if (!open) return undo?.(answer, line.face)
          open = false
          resolve(answer)
        },
        (fault: unknown) => {
          clearTimeout(timer)
          reject(down(fault))
          open = false
          // A value that cannot be encoded or decoded is no fault of the connection.
          if (!(fault instanceof TypeError || fault instanceof SyntaxError)) lose(line, reasonOf(fault))
        },
      )
      // The undo is tried once: the connection is lost, and places and allowances recover with time.
      .catch(() => {})
      .finally(() => {
        line.waiting--
        retire(line)
      })
  })

/** Resolves when the connection stands, after so many ms, or at the end. */
const firstOf = async (connected: Promise<void>, ms: number, signal: AbortSignal): Promise<void> =>
  Promise.race([connected, sleep(ms, undefined, { signal }).catch(() => {})])

/** Connects at once, and reconnects while Redis is down. */
export const connectRedis = <F>(
  { url, patience, prefix, use, log }: RedisOptions,
  wear: (client: Client) => F,
): Redis<F> => {
  const closing = new AbortController()
  const lines = new Set<Line<F>>()
  let line: Line<F> | null = null
  const tell = reporting(log, use, closing.signal)

  const retire = (old: Line<F>) => {
    if (old === line || old.waiting > 0 || !lines.delete(old)) return
    hangUp(old.client)
  }

  const lose = (lost: Line<F>, why: string) => {
    if (lost !== line) return
    line = null
    retire(lost)
    if (closing.signal.aborted) return
    tell(why)
    setTimeout(() => hangUp(lost.client), linger).unref()
    void search(performance.now() - lost.since < retryMs ? retryMs : 0)
  }

  const reach = (): Promise<Line<F> | string> => reachedLine(url, `${prefix}:${use}:probe`, wear, lose)

  const search = async (delay: number): Promise<void> => {
    for (; ; delay = retryMs) {
      if (delay > 0) await sleep(delay, undefined, { ref: false, signal: closing.signal }).catch(() => {})
      if (closing.signal.aborted) return
      const found = await reach().catch(reasonOf)
      if (typeof found === 'string') {
        tell(found)
        continue
      }
      if (closing.signal.aborted) return hangUp(found.client)
      lines.add((line = found))
      return tell(null)
    }
  }

  let beginning: Promise<void> | null = firstOf(search(0), patience, closing.signal).then(() => {
    beginning = null
  })

  return {
    async ask(question, undo) {
      if (beginning) await beginning
      if (!line) throw down()
      return askOver(line, { patience, lose, retire }, question, undo)
    },
    stands: () => line !== null,
    close() {
      closing.abort()
      line = null
      for (const line of lines) hangUp(line.client)
      lines.clear()
    },
  }
}
