import { setTimeout as sleep } from 'node:timers/promises'
import type { Place, RateLimiter, Spent } from '../../core/ports/rate-limiter.ts'

const long = 60_000

/** Another view of the same limiter, with `spend` changed. */
const spending = (change: (answer: Spent, amounts: readonly number[]) => Spent) => (right: RateLimiter) => ({
  spend: async (charges: Parameters<RateLimiter['spend']>[0]) =>
    change(
      await right.spend(charges),
      charges.map(({ amount }) => amount),
    ),
})

const settling = (
  settle: (
    answer: Spent & { ok: true },
    actual: readonly number[],
    amounts: readonly number[],
  ) => ReturnType<(Spent & { ok: true })['settle']>,
) =>
  spending((answer, amounts) =>
    answer.ok ? { ...answer, settle: (actual) => settle(answer, actual, amounts) } : answer,
  )

/** Another view of the same limiter, with its places changed. */
const taking =
  (change: (place: Place, again: () => Promise<Place | null>) => Partial<Place>) => (right: RateLimiter) => ({
    async take(name: string, most: number, ttl: number) {
      const place = await right.take(name, most, ttl)
      if (place === null) return null
      const own = { renew: () => place.renew(), release: () => place.release() }
      return { ...own, ...change(place, async () => right.take(name, most, ttl)) }
    },
  })

/** By the promise that each of them breaks. */
export const wrong = {
  'gives at most so many places': (right) => ({ take: (name, most, ttl) => right.take(name, most + 1, ttl) }),
  'gives at most so many also when all ask at once': (right) => {
    const count = new Map<string, number>()
    return {
      async take(name, most, ttl) {
        const before = count.get(name) ?? 0
        await sleep(0)
        if (before >= most) return null
        count.set(name, before + 1)
        return right.take(name, Infinity, ttl)
      },
    }
  },
  'a released place is free': taking(() => ({ release: async () => {} })),
  'releasing twice frees nobody else': (right) => {
    const all: Place[] = []
    return {
      async take(name, most, ttl) {
        const place = await right.take(name, most, ttl)
        if (place) all.push(place)
        return place && { renew: () => place.renew(), release: async () => all.shift()?.release() }
      },
    }
  },
  'a place falls free after its time': (right) => ({ take: (name, most) => right.take(name, most, long) }),
  'a short place does not end a long one': (right) => {
    const all: Place[] = []
    return {
      async take(name, most, ttl) {
        const place = await right.take(name, most, ttl)
        if (place) all.push(place)
        setTimeout(() => all.splice(0).forEach((place) => place.release()), ttl).unref()
        return place
      },
    }
  },
  'a renewed place is kept': taking(() => ({ renew: async () => true })),
  'renewing tells that a place was lost, and takes no other': taking((place, again) => ({
    renew: async () => (await place.renew()) || (await again()) !== null,
  })),
  'places under different names are independent': (right) => ({
    take: (_name, most, ttl) => right.take('', most, ttl),
  }),
  'tells what is left, in the order of the charges': spending((answer) =>
    answer.ok ? { ...answer, left: answer.left.toReversed() } : answer,
  ),
  'spends down to nothing and no further': (right) => ({
    spend: (charges) => right.spend(charges.map((charge) => ({ ...charge, amount: charge.amount * 0.9 }))),
  }),
  'all charges or none': (right) => ({
    async spend(charges) {
      let last: Spent | undefined
      for (const [i, charge] of charges.entries()) {
        last = await right.spend([charge])
        if (!last.ok) return { ...last, refused: i }
      }
      return last!
    },
  }),
  'tells which charge was refused': spending((answer) => (answer.ok ? answer : { ...answer, refused: 0 })),
  'refuses until the wait is over, then accepts': spending((answer) =>
    answer.ok ? answer : { ...answer, wait: answer.wait / 2 },
  ),
  'waits for ever for what never fits': spending((answer) =>
    answer.ok ? answer : { ...answer, wait: Math.min(answer.wait, long) },
  ),
  'a changed most counts at once, and what was used stays used': (right) => {
    const first = new Map<string, number>()
    return {
      spend: (charges) =>
        right.spend(
          charges.map(({ allowance, amount }) => {
            const most = first.get(allowance.name) ?? allowance.most
            first.set(allowance.name, most)
            return { allowance: { ...allowance, most }, amount }
          }),
        ),
    }
  },
  'refills by nothing until its end, and tells how long that is': (right) => ({
    spend: (charges) =>
      right.spend(charges.map(({ allowance: { until: _, ...allowance }, amount }) => ({ allowance, amount }))),
  }),
  'a soft allowance refuses nothing and is counted': (right) => ({
    spend: (charges) =>
      right.spend(charges.map((charge) => (charge.allowance.soft === true ? { ...charge, amount: 0 } : charge))),
  }),
  'settling tells what is left': settling(async (answer, actual) => {
    await answer.settle(actual)
    return answer.left
  }),
  'refills evenly': (right) => ({
    spend: (charges) =>
      right.spend(
        charges.map((charge) => ({ ...charge, allowance: { ...charge.allowance, per: charge.allowance.per * 2 } })),
      ),
  }),
  'never holds more than its most': (right) => ({
    spend: (charges) =>
      right.spend(
        charges.map((charge) => ({ ...charge, allowance: { ...charge.allowance, most: charge.allowance.most * 2 } })),
      ),
  }),
  'settling gives back what was not used': settling((answer, actual, amounts) =>
    answer.settle(actual.map((value, i) => Math.max(value, amounts[i]!))),
  ),
  'settling takes what was used more, even below zero': settling((answer, actual, amounts) =>
    answer.settle(actual.map((value, i) => Math.min(value, amounts[i]!))),
  ),
  'settling twice is settling once': (right) => ({
    async spend(charges) {
      const answer = await right.spend(charges)
      if (!answer.ok) return answer
      const settle = async (actual: readonly number[]) => {
        const more = await right.spend(charges.map((charge) => ({ ...charge, amount: 0 })))
        if (more.ok) await more.settle(actual.map((value, i) => value - charges[i]!.amount))
      }
      return { ...answer, settle }
    },
  }),
  'never overspends when all ask at once': (right) => ({
    async spend(charges) {
      const seen = await right.spend(charges.map((charge) => ({ ...charge, amount: 0 })))
      await sleep(0)
      if (!seen.ok || charges.some(({ amount }, i) => seen.left[i]! < amount)) return right.spend(charges)
      await seen.settle(charges.map(({ amount }) => amount))
      return seen
    },
  }),
  'allowances of different names are independent': (right) => ({
    spend: (charges) =>
      right.spend(charges.map((charge) => ({ ...charge, allowance: { ...charge.allowance, name: '' } }))),
  }),
} satisfies Record<string, (right: RateLimiter) => Partial<RateLimiter>>
