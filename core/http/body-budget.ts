import type { Caller } from '../access/caller.ts'
import { TooMany, Unavailable } from '../errors.ts'
import type { Settings } from '../settings.ts'

/** Bytes that one request holds in memory. */
export interface HeldBytes {
  /** Throws TooMany or Unavailable when there is no room for so many bytes more. */
  grow(bytes: number): void
  release(): void
}

type Room = Settings['bodies']['inMemory']

/**
 * Bodies that stand in the memory of this process, counted for all callers, for an organisation and for a key. A key
 * that holds nothing may always have one body, so that no body within the limit of its route is refused for good.
 */
export const bodyBudget = () => {
  let all = 0
  const [keys, organizations] = [new Map<string, number>(), new Map<string, number>()]
  const add = (counts: Map<string, number>, name: string, bytes: number): void => {
    const count = (counts.get(name) ?? 0) + bytes
    if (count > 0 || counts.size < 10_000) counts.set(name, count)
    else counts.delete(name)
  }

  return ({ key, organization }: Pick<Caller, 'key' | 'organization'>, room: Room): HeldBytes => {
    let own = 0
    return {
      grow(bytes) {
        const ofKey = keys.get(key) ?? 0
        const others = ofKey - own
        const ofOrganization = organizations.get(organization) ?? 0
        if (others > 0 && (ofKey + bytes > room.key || ofOrganization + bytes > room.organization))
          throw new TooMany('Too many bytes under way', { retryAfter: 1000, limit: 'memory' })
        if (all > own && all + bytes > room.process) throw new Unavailable()
        own += bytes
        all += bytes
        add(keys, key, bytes)
        add(organizations, organization, bytes)
      },
      release() {
        all -= own
        add(keys, key, -own)
        add(organizations, organization, -own)
        own = 0
      },
    }
  }
}
