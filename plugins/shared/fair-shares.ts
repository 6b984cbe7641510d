import type { QueueLimits } from './errand.ts'
import { TooMany } from '../../core/errors.ts'

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

/** The jobs that may wait where the configuration says nothing. */
export const defaultQueue: QueueLimits = { all: 512, organization: 64 }

type Release = () => void

/** A stock of shares of one resource, such as places or bytes of open files. */
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

interface Stock {
  readonly room: ShareLimits
  /** In the order in which organisations have their turn. */
  readonly waiting: Map<string, Waiting[]>
  /** How many wait, in all. */
  queued: number
  /** Held in all, by each organisation and by each key. */
  all: number
  readonly organization: Map<string, number>
  readonly key: Map<string, number>
}

/** Shares of something that runs short: organisations take turns, and within each who came first is served first. */
export const fairShares = (room: ShareLimits): Shares => {
  const stock: Stock = { room, waiting: new Map(), queued: 0, all: 0, organization: new Map(), key: new Map() }
  return {
    take: (holder, size, queue, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        const leave = () => {
          if (remove(stock, waiter)) pass(stock)
          reject(signal.reason as Error)
        }
        const waiter: Waiting = {
          holder,
          size,
          go(release) {
            signal.removeEventListener('abort', leave)
            resolve(once(release))
          },
        }
        enter(stock, waiter)
        pass(stock)
        const mine = stock.waiting.get(holder.organization) ?? []
        if (!mine.includes(waiter)) return
        if (stock.queued > queue.all || mine.length > queue.organization) {
          remove(stock, waiter)
          return reject(new TooMany('Too many requests', { retryAfter }))
        }
        signal.addEventListener('abort', leave, { once: true })
      }),
  }
}

const fits = (has: number, size: number, most: number): boolean => has === 0 || has + size <= most

const fitsOwn = ({ organization, key, room }: Stock, { holder, size }: Waiting): boolean =>
  fits(organization.get(holder.organization) ?? 0, size, room.organization) &&
  fits(key.get(keyOf(holder)) ?? 0, size, room.key)

const hold = (stock: Stock, holder: ShareHolder, size: number): void => {
  stock.all += size
  add(stock.organization, holder.organization, size)
  add(stock.key, keyOf(holder), size)
}

const enter = (stock: Stock, waiter: Waiting): void => {
  const theirs = stock.waiting.get(waiter.holder.organization)
  if (theirs === undefined) stock.waiting.set(waiter.holder.organization, [waiter])
  else theirs.push(waiter)
  stock.queued++
}

/** False when it does not wait any more. */
const remove = (stock: Stock, waiter: Waiting): boolean => {
  const { organization } = waiter.holder
  const theirs = stock.waiting.get(organization)
  const at = theirs?.indexOf(waiter) ?? -1
  if (theirs === undefined || at < 0) return false
  theirs.splice(at, 1)
  if (theirs.length === 0) stock.waiting.delete(organization)
  stock.queued--
  return true
}

/** An organisation that has or had its turn stands behind the others. */
const stepBack = ({ waiting }: Stock, { organization }: ShareHolder): void => {
  const theirs = waiting.get(organization)
  if (theirs !== undefined && waiting.delete(organization)) waiting.set(organization, theirs)
}

/** The next of the organisation whose turn it is; null where nobody may go yet. */
const next = (stock: Stock): Waiting | null => {
  for (const theirs of stock.waiting.values()) {
    const first = theirs.find((waiter) => fitsOwn(stock, waiter))
    // A large share would never fit if small ones went ahead of it.
    if (first !== undefined) return fits(stock.all, first.size, stock.room.all) ? first : null
  }
  return null
}

const pass = (stock: Stock): void => {
  for (let waiter = next(stock); waiter !== null; waiter = next(stock)) {
    const { holder, size, go } = waiter
    remove(stock, waiter)
    stepBack(stock, holder)
    hold(stock, holder, size)
    go(() => {
      hold(stock, holder, -size)
      stepBack(stock, holder)
      pass(stock)
    })
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
