import type { Caller } from '../access/caller.ts'
import { Aborted, TooMany, Unavailable } from '../errors.ts'
import type { Settings } from '../settings.ts'
import type { HeldBytes } from './route.ts'

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
    let isOver = false
    const shrink = (bytes: number): void => {
      const back = Math.min(bytes, own)
      own -= back
      all -= back
      add(keys, key, -back)
      add(organizations, organization, -back)
    }
    return {
      shrink,
      grow(bytes) {
        if (isOver) throw new Aborted()
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
        isOver = true
        shrink(own)
      },
    }
  }
}
