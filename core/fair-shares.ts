import { TooMany } from './errors.ts'

/** Who takes a share: a key of an organisation. */
export interface ShareHolder {
  readonly organization: string
  readonly key: string
}

/** How much there is in all, and how much of it one organisation and one key may hold. */
export interface ShareLimits {
  readonly all: number
  readonly organization: number
  readonly key: number
}

/** How many may wait for their turn, in all and of one organisation. */
export interface QueueLimits {
  readonly all: number
  readonly organization: number
}

export const defaultQueue: QueueLimits = { all: 512, organization: 64 }

type Release = () => void

export interface Shares {
  /**
   * Resolves when the holder's turn has come and its size fits. What is larger than its share is held where its holder has
   * nothing else. Throws TooMany where too many wait already, and the signal's reason where its caller left.
   */
  take(holder: ShareHolder, size: number, queue: QueueLimits, signal: AbortSignal): Promise<Release>
}

interface Waiting {
  readonly holder: ShareHolder
  readonly size: number
  readonly go: (release: Release) => void
}

/** Ms after which a refused call may find a place. */
const retryAfter = 2_000

/** Shares of something that runs short: organisations take turns, and within each who came first is served first. */
export const fairShares = (room: ShareLimits): Shares => {
  /** In the order in which organisations have their turn. */
  const waiting = new Map<string, Waiting[]>()
  const held = { all: 0, organization: new Map<string, number>(), key: new Map<string, number>() }
  let queued = 0

  const fits = (has: number, size: number, most: number): boolean => has === 0 || has + size <= most

  const fitsOwn = ({ holder, size }: Waiting): boolean =>
    fits(held.organization.get(holder.organization) ?? 0, size, room.organization) &&
    fits(held.key.get(keyOf(holder)) ?? 0, size, room.key)

  const hold = (holder: ShareHolder, size: number): void => {
    held.all += size
    add(held.organization, holder.organization, size)
    add(held.key, keyOf(holder), size)
  }

  const remove = (it: Waiting): boolean => {
    const { organization } = it.holder
    const theirs = waiting.get(organization)
    const at = theirs?.indexOf(it) ?? -1
    if (theirs === undefined || at < 0) return false
    theirs.splice(at, 1)
    if (theirs.length === 0) waiting.delete(organization)
    queued--
    return true
  }

  /** An organisation that has or had its turn stands behind the others. */
  const stepBack = ({ organization }: ShareHolder): void => {
    const theirs = waiting.get(organization)
    if (theirs !== undefined && waiting.delete(organization)) waiting.set(organization, theirs)
  }

  /** The next of the organisation whose turn it is; null where nobody may go yet. */
  const next = (): Waiting | null => {
    for (const theirs of waiting.values()) {
      const first = theirs.find(fitsOwn)
      // A large share would never fit if small ones went ahead of it.
      if (first !== undefined) return fits(held.all, first.size, room.all) ? first : null
    }
    return null
  }

  const pass = (): void => {
    for (let it = next(); it !== null; it = next()) {
      const { holder, size, go } = it
      remove(it)
      stepBack(holder)
      hold(holder, size)
      go(() => {
        hold(holder, -size)
        stepBack(holder)
        pass()
      })
    }
  }

  return {
    take: (holder, size, queue, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        const leave = () => {
          if (remove(it)) pass()
          reject(signal.reason as Error)
        }
        const it: Waiting = {
          holder,
          size,
          go(release) {
            signal.removeEventListener('abort', leave)
            resolve(once(release))
          },
        }
        const theirs = waiting.get(holder.organization)
        if (theirs === undefined) waiting.set(holder.organization, [it])
        else theirs.push(it)
        queued++
        pass()
        const mine = waiting.get(holder.organization) ?? []
        if (!mine.includes(it)) return
        if (queued > queue.all || mine.length > queue.organization) {
          remove(it)
          return reject(new TooMany('Too many requests', { retryAfter }))
        }
        signal.addEventListener('abort', leave, { once: true })
      }),
  }
}

const keyOf = ({ organization, key }: ShareHolder): string => JSON.stringify([organization, key])

const add = (to: Map<string, number>, name: string, size: number): void => {
  const now = (to.get(name) ?? 0) + size
  if (now === 0) to.delete(name)
  else to.set(name, now)
}

const once = (release: Release): Release => {
  let over = false
  return () => {
    if (over) return
    over = true
    release()
  }
}
