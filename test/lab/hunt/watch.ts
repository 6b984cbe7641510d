import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Probed, Seen } from './prober.ts'

export interface Watched {
  readonly gateway: Seen
  readonly enclave: Seen
  /** A caller of another organisation, once there is one. */
  readonly victim?: Seen
}

/** A thread that looks at both processes, so that the work of this one blurs nothing. */
export interface Watch {
  begin(): Promise<void>
  /** From now on somebody chats with this key again and again. */
  beside(key: string): Promise<void>
  /** What was seen since the beginning. */
  end(): Promise<Watched>
  close(): Promise<unknown>
}

/** Another loopback address than the callers have: what a gateway allows to one of them is not used up by probes. */
const localAddress = '127.0.0.2'

export const watching = (base: string, gateway: number, socket: string, enclave: number): Watch => {
  const { hostname: host, port } = new URL(base)
  const probed: Readonly<Record<'gateway' | 'enclave', Probed>> = {
    gateway: { pid: gateway, options: { host, port, localAddress, path: '/health/live' } },
    enclave: { pid: enclave, options: { socketPath: socket, path: '/keys' } },
  }
  const file = new URL(import.meta.url.replace(/watch\.([jt]s)$/, 'prober.$1'))
  const worker = new Worker(file, { workerData: probed })
  worker.unref()
  const ask = async (word: unknown): Promise<unknown> => {
    worker.postMessage(word)
    return (await once(worker, 'message'))[0]
  }
  return {
    begin: async () => void (await ask('begin')),
    async beside(key) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ model: 'chatting', messages: [{ role: 'user', content: 'a' }] })
      const options = { host, port, localAddress, path: '/std/chat/completions', method: 'POST', headers }
      await ask({ victim: { pid: gateway, options, body } satisfies Probed })
    },
    end: async () => (await ask('end')) as Watched,
    close: () => worker.terminate(),
  }
}
