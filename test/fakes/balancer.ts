import { type IncomingMessage, type ServerResponse, createServer, request } from 'node:http'
import { pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { until } from '../until.ts'
import { listening } from './listening.ts'

export interface Balancer {
  readonly base: string
  add(base: string): void
  /** How many take requests just now. */
  ready(): number
}

/** Ms between two questions to a replica, and ms after a question for which its answer counts: a busy machine asks late. */
const [interval, fresh] = [100, 500]

/** Sends each request, once, to the next replica that said shortly ago that it was ready; keeps no connection to any. */
export const balancer = async (t: Test): Promise<Balancer> => {
  /** When each replica was asked, to which it answered that it is ready; null where it is not. */
  const replicas = new Map<string, number | null>()
  const ready = (): readonly string[] =>
    [...replicas].flatMap(([base, asked]) => (asked !== null && performance.now() - asked < fresh ? [base] : []))
  let turn = 0
  const next = async (): Promise<string> => {
    let able = ready()
    if (!(await until(() => (able = ready()).length > 0, 30_000))) throw new Error('No replica is ready')
    return able[turn++ % able.length]!
  }

  const pass = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { method, headers } = asked
    const on = request((await next()) + asked.url, {
      method,
      headers: { ...headers, connection: 'close' },
      agent: false,
    })
    on.once('response', (request) => {
      const { connection: _, 'transfer-encoding': __, ...rest } = request.headers
      answer.writeHead(request.statusCode!, rest)
      pipeline(request, answer, () => undefined)
    })
    on.once('error', () => answer.destroy())
    answer.once('close', () => on.destroy())
    asked.pipe(on)
  }

  let open = true
  const probe = async (base: string): Promise<void> => {
    while (open) {
      const asked = performance.now()
      const told = await fetch(`${base}/health/ready`, { headers: { connection: 'close' } }).catch(() => null)
      await told?.body?.cancel()
      replicas.set(base, told?.status === 200 ? asked : null)
      await sleep(interval)
    }
  }

  const { port } = await listening(
    t,
    createServer((request, answer) => void pass(request, answer)),
    '127.0.0.1',
  )
  t.teardown(() => void (open = false))
  return {
    base: `http://127.0.0.1:${port}`,
    add(base) {
      replicas.set(base, null)
      void probe(base)
    },
    ready: () => ready().length,
  }
}
