import type { ServerResponse } from 'node:http'
import { type KeyRow, lives } from '../access/key-row.ts'
import type { Caller } from '../access/caller.ts'
import type { Credentials } from '../ports/credentials.ts'
import type { Clock } from '../ports/platform.ts'
import { type Linked, append, linkedList, unlink } from './linked-list.ts'

/** A request that is under way with a key. */
export interface KeyedRequest extends Linked<KeyedRequest> {
  readonly key: string
  readonly response: ServerResponse
  readonly began: number
  /** What the request showed; absent for a key of the store. */
  readonly credential: (() => string | null) | undefined
}

/** The requests that run for so many ms, by their credential. */
const longRunning = (first: KeyedRequest | null, now: number, least: number): readonly KeyedRequest[][] => {
  const long = new Map<string, KeyedRequest[]>()
  for (let request = first; request !== null; request = request.behind) {
    const ms = now - request.began
    // Below zero the clock was set back.
    if (ms >= 0 && ms < least) continue
    const name = request.credential?.() ?? request.key
    const same = long.get(name)
    if (same === undefined) long.set(name, [request])
    else same.push(request)
  }
  return [...long.values()]
}

/**
 * Cuts the answers that are under way when their key is revoked, runs out or is gone, or when their login or session is.
 * Each credential whose request runs for long is looked up once; a store or an issuer out of reach cuts nothing.
 */
export const keyWatch = (
  keyOf: (id: string) => Promise<KeyRow | null>,
  kinds: () => readonly Credentials[],
  clock: Clock,
  failed: (error: unknown) => void,
) => {
  const requests = linkedList<KeyedRequest>()
  let within = 0

  const stands = async (key: string, credential: string | null): Promise<boolean> => {
    try {
      const kind = credential === null ? undefined : kinds().find((each) => each.takes(credential))
      // A login whose issuer is gone is no key of the store either.
      if (kind !== undefined && credential !== null) return (await kind.find(credential))?.caller.key === key
      const row = await keyOf(key)
      return row !== null && lives(row, clock.now())
    } catch (error) {
      failed(error)
      return true
    }
  }
  const look = async (): Promise<void> => {
    const looks = longRunning(requests.first, clock.now(), within / 2).map(async (them) => {
      const [{ key, credential }] = them as [KeyedRequest]
      return (await stands(key, credential?.() ?? null)) ? [] : them
    })
    for (const { response } of (await Promise.all(looks)).flat()) response.destroy()
  }
  const watch = () =>
    clock.alarm(within / 2, () => {
      void look().finally(() => {
        if (requests.length > 0) watch()
        else within = 0
      })
    })

  return {
    /** `ms` are those within which a revocation counts. */
    began(
      { key }: Pick<Caller, 'key'>,
      response: ServerResponse,
      ms: number,
      credential?: () => string | null,
    ): KeyedRequest {
      const request: KeyedRequest = { key, response, began: clock.now(), credential, before: null, behind: null }
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
