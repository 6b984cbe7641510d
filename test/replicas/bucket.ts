/** An allowance as far as it can be known from outside: between which two amounts it must be. */
export interface Bucket {
  readonly name: string
  readonly most: number
  /** Ms in which all of it comes back. */
  readonly per: number
  /** How many of that amount fit between two moments: surely, and at best. */
  fits(amount: number, from: number, to: number): { readonly least: number; readonly most: number }
  /** So much was taken between these moments. */
  taken(amount: number, from: number, to: number): void
  /** So much may come back at any time from now, or below zero be taken. */
  owed(amount: number): void
  /** Whether it may hold so much, as read between two moments, when nothing is owed any more; then it is known. */
  agrees(level: number, from: number, to: number): boolean
  /** Between which amounts it is. */
  span(): { readonly low: number; readonly high: number }
  told(): string
}

/** Clocks count whole milliseconds, and floats are floats. */
const slack = 0.02

export const bucket = (name: string, most: number, per: number, now: number): Bucket => {
  const rate = most / per
  let [low, high, at] = [most, most, now]
  /** What comes back, and what is still to be taken. */
  let [back, due] = [0, 0]

  const turn = (to: number) => {
    const grown = rate * Math.max(0, to - at)
    low = Math.min(most - back, low + grown)
    high = Math.min(most + due, high + grown)
    at = Math.max(at, to)
  }

  return {
    name,
    most,
    per,
    fits(amount, from, to) {
      turn(from)
      const best = Math.min(most, high + back) + rate * (to - from) + 2 * rate
      return {
        least: Math.max(0, Math.floor((low - due - slack - 2 * rate) / amount)),
        most: Math.max(0, Math.floor((best + slack) / amount)),
      }
    },
    taken(amount, from, to) {
      turn(from)
      const grown = rate * (to - from)
      low = Math.min(most - back, low + grown) - amount
      high = Math.min(most + due, high - amount + grown)
      at = Math.max(at, to)
    },
    owed(amount) {
      if (amount > 0) back += amount
      else due -= amount
    },
    agrees(level, from, to) {
      turn(from)
      const change = back - due
      const least = Math.min(most, low + change) - slack - 2 * rate
      const best = Math.min(most, high + change + rate * (to - from)) + slack + 2 * rate
      if (level < least || level > best) return false
      ;[low, high, at, back, due] = [level, level, to, 0, 0]
      return true
    },
    span: () => ({ low: low - due, high: high + back }),
    told: () => `${name} between ${low} and ${high}, and ${back - due} to come`,
  }
}
