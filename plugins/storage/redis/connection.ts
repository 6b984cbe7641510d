import { createClient } from '@keyv/redis'
import { Unavailable } from '../../../core/errors.ts'
import type { Clock } from '../../../core/ports/platform.ts'

/** The way of all scripts to one Redis. */
export interface Connection {
  /** The answer of a script. Throws Unavailable. */
  ask<R>(script: string, keys: readonly string[], args?: readonly string[]): Promise<R>
  /** Calls under way reject with Unavailable, and so do later calls. */
  close(): void
}

/** A refusal that does not concern the connection. Redis 6 puts words of its own before that of a replica to a script. */
const refusal = /^(?!READONLY|LOADING|MASTERDOWN|ERR Error running script.*-READONLY )[A-Z]+\b/

/** `patience` in ms limits the connecting. The client neither reconnects nor queues: `connection` decides both. */
const dial = (url: string, patience: number) => {
  const socket = { connectTimeout: patience, reconnectStrategy: false } as const
  const client = createClient({ url, disableOfflineQueue: true, disableClientInfo: true, socket })
  return { client, up: client.connect() }
}

/** One connection for all calls. After `patience` ms of silence a new one sends the script once more. */
export const connection = (clock: Clock, url: string, patience: number): Connection => {
  type Line = ReturnType<typeof dial>
  let line: Line | null = null
  let isClosed = false

  const hangUp = (old: Line): void => {
    if (line === old) line = null
    if (old.client.isOpen) old.client.destroy()
  }
  const lift = (): Line => {
    const dialled = dial(url, patience)
    dialled.client.on('error', () => hangUp(dialled))
    dialled.up.catch(() => hangUp(dialled))
    return dialled
  }

  return {
    async ask<R>(script: string, keys: readonly string[], args: readonly string[] = []): Promise<R> {
      const until = clock.now() + patience
      for (let isSecond = false; ; isSecond = true) {
        if (isClosed) throw new Unavailable()
        const current = (line ??= lift())
        try {
          return await new Promise<R>((resolve, reject) => {
            const alarm = clock.alarm(until - clock.now(), () => reject(new Error('No answer in time')))
            const work = current.up.then(() => current.client.eval(script, { keys: [...keys], arguments: [...args] }))
            work.then((answer) => resolve(answer as R), reject).finally(alarm.off)
          })
        } catch (cause) {
          const isRefusal = refusal.test((cause as Error).message)
          if (!isRefusal) hangUp(current)
          if (isRefusal || isSecond || clock.now() >= until) throw new Unavailable(undefined, { cause })
        }
      }
    },
    close() {
      isClosed = true
      if (line) hangUp(line)
    },
  }
}
