import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { heard, program } from '../../fakes/served.ts'

/** What one request visits. */
export interface Trace {
  /** Files in the order of their first visit. */
  readonly files: readonly string[]
  /** How often the request comes back to a file that it has left. */
  readonly returns: number
}

export interface Traced {
  readonly base: string
  trace(request: () => Promise<unknown>): Promise<Trace>
  stop(): Promise<void>
}

const probe = fileURLToPath(new URL('./probe.js', import.meta.url))
/** Requests that are traced; timers of the process add visits to some of them. */
const tries = 24
/** Ms in which a request that was answered settles its books. */
const settling = 40

/** Starts the gateway as `npm start` does, and tells which files a request visits. */
export const traced = async (env: Readonly<Record<string, string>>): Promise<Traced> => {
  const child = spawn(process.execPath, ['--import', probe, program], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const ended = once(child, 'exit')
  const base = await heard(child).listening
  const order = async (word: 'begin' | 'end') => {
    child.send(word)
    return ((await once(child, 'message')) as [readonly string[]])[0]
  }
  return {
    base,
    async trace(request) {
      for (let at = 0; at < tries; at++) await request()
      let least: readonly string[] = []
      for (let at = 0; at < tries; at++) {
        await sleep(settling)
        await order('begin')
        await request()
        await sleep(settling)
        const visits = await order('end')
        if (at === 0 || visits.length < least.length) least = visits
      }
      const files = [...new Set(least)]
      return { files, returns: least.length - files.length }
    },
    async stop() {
      child.kill()
      await ended
    },
  }
}
