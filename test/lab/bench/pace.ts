import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves when the answer was read whole; rejects when it is not 200. */
export type Call = () => Promise<void>

/** Over kept connections that take turns, by the client that costs least: what it takes is missing elsewhere. */
export const calling = (url: string, key: string, body: string): { readonly call: Call; close(): void } => {
  const agent = new Agent({ keepAlive: true, scheduling: 'fifo' })
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  return {
    call: () =>
      new Promise((resolve, reject) => {
        const asked = request(url, { method: 'POST', headers, agent }, (answer) => {
          answer.resume().once('error', reject)
          answer.once('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`${answer.statusCode}`))))
        })
        asked.once('error', reject).end(body)
      }),
    close: () => agent.destroy(),
  }
}

/** So many calls a second, whether or not those before have ended; gives how many it made. */
export const paced = async (call: Call, perSecond: number, calls: number): Promise<number> => {
  const began = performance.now()
  const open: Promise<void>[] = []
  while (open.length < calls) {
    const due = Math.min(calls, ((performance.now() - began) * perSecond) / 1000)
    while (open.length < due) open.push(call())
    await sleep(1)
  }
  await Promise.all(open)
  return calls
}

/** So many at once, each after the one before. */
export const eagerly = async (call: Call, atOnce: number, calls: number): Promise<number> => {
  let left = calls
  const caller = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: atOnce }, caller))
  return calls
}
