import { type IncomingMessage, type ServerResponse, createServer, request } from 'node:http'
import { pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { listening } from './listening.ts'

export interface Balancer {
  readonly base: string
  add(base: string): void
  /** How many take requests just now. */
  ready(): number
}

const interval = 100

/** Sends each request, once, to the next replica that said it was ready when it was last asked; keeps no connection to any. */
export const balancer = async (t: Test): Promise<Balancer> => {
  const replicas = new Map<string, boolean>()
  let turn = 0
  const next = (): string => {
    const ready = [...replicas].filter(([, ready]) => ready)
    if (ready.length === 0) throw new Error('No replica is ready')
    return ready[turn++ % ready.length]![0]
  }

  const pass = (asked: IncomingMessage, answer: ServerResponse): void => {
    const { method, headers } = asked
    const on = request(next() + asked.url, { method, headers: { ...headers, connection: 'close' }, agent: false })
    on.once('response', (said) => {
      const { connection: _, 'transfer-encoding': __, ...rest } = said.headers
      answer.writeHead(said.statusCode!, rest)
      pipeline(said, answer, () => undefined)
    })
    on.once('error', () => answer.destroy())
    answer.once('close', () => on.destroy())
    asked.pipe(on)
  }

  let open = true
  const probe = async (base: string): Promise<void> => {
    while (open) {
      const told = await fetch(`${base}/health/ready`, { headers: { connection: 'close' } }).catch(() => null)
      await told?.body?.cancel()
      replicas.set(base, told?.status === 200)
      await sleep(interval)
    }
  }

  const { port } = await listening(t, createServer(pass), '127.0.0.1')
  t.teardown(() => void (open = false))
  return {
    base: `http://127.0.0.1:${port}`,
    add(base) {
      replicas.set(base, false)
      void probe(base)
    },
    ready: () => [...replicas.values()].filter(Boolean).length,
  }
}
