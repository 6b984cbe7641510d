import type { ServerResponse } from 'node:http'
import { type KeyRow, lives } from '../access/key-row.ts'
import type { Caller } from '../access/caller.ts'
import type { Clock } from '../ports/platform.ts'
import { type Linked, append, linkedList, unlink } from './linked-list.ts'

/** A request that is under way with a key. */
export interface KeyedRequest extends Linked<KeyedRequest> {
  readonly key: string
  readonly response: ServerResponse
  readonly began: number
}

/**
 * Cuts the answers that are under way when their key is revoked, runs out or is gone. The store is asked once for each
 * key whose request runs for long; a store out of reach cuts nothing.
 */
export const keyWatch = (
  keyOf: (id: string) => Promise<KeyRow | null>,
  clock: Clock,
  failed: (error: unknown) => void,
) => {
  const requests = linkedList<KeyedRequest>()
  let within = 0

  const stands = async (key: string): Promise<boolean> => {
    try {
      const row = await keyOf(key)
      return row !== null && lives(row, clock.now())
    } catch (error) {
      failed(error)
      return true
    }
  }
  const look = async (): Promise<void> => {
    const long = new Map<string, ServerResponse[]>()
    for (let request = requests.first; request !== null; request = request.behind) {
      const ms = clock.now() - request.began
      // Below zero the clock was set back.
      if (ms >= 0 && ms < within / 2) continue
      const responses = long.get(request.key)
      if (responses === undefined) long.set(request.key, [request.response])
      else responses.push(request.response)
    }
    const fallen = await Promise.all([...long].map(async ([key, them]) => ((await stands(key)) ? [] : them)))
    for (const response of fallen.flat()) response.destroy()
  }
  const watch = () =>
    clock.alarm(within / 2, () => {
      void look().finally(() => {
        if (requests.length > 0) watch()
        else within = 0
      })
    })

  return {
    /** Ms within which a revocation counts; null for callers whose credential is no key of the store. */
    began({ key }: Caller, response: ServerResponse, ms: number): KeyedRequest | null {
      if (!key.startsWith('key_')) return null
      const request: KeyedRequest = { key, response, began: clock.now(), before: null, behind: null }
      append(requests, request)
      const isIdle = within === 0
      within = ms
      if (isIdle) watch()
      return request
    },
    ended(request: KeyedRequest): void {
      unlink(requests, request)
    },
  }
}
