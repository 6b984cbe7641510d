import { deepEqual, equal, ok } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { clock } from '../../adapters/memory/platform.ts'
import memory from '../../adapters/memory/rate-limiter.ts'
import { use } from '../../core/plugin.ts'
import { RateLimiter, type Allowance, type Place, type Spent } from '../../core/ports/rate-limiter.ts'
import { wrong } from '../fakes/careless-limiters.ts'
import { made } from '../fitted.ts'
import { proof } from './contract.ts'

const long = 60_000
/** So slow that no check sees it refill. */
const slow = 1e12

const tokens = (name: string, most: number, per = slow): Allowance => ({ name, concern: 'tokens', most, per })

const taken = async (limiter: RateLimiter, name: string, most: number, ttl = long): Promise<Place> => {
  const place = await limiter.take(name, most, ttl)
  ok(place, 'there is a place')
  return place
}

const full = async (limiter: RateLimiter, name: string, most: number) =>
  equal(await limiter.take(name, most, long), null)

const spent = async (limiter: RateLimiter, allowance: Allowance, amount: number): Promise<Spent & { ok: true }> => {
  const answer = await limiter.spend([{ allowance, amount }])
  ok(answer.ok, 'there is enough')
  return answer
}

const refused = async (limiter: RateLimiter, allowance: Allowance, amount: number) => {
  const answer = await limiter.spend([{ allowance, amount }])
  ok(!answer.ok, 'there is not enough')
  return answer
}

const left = async (limiter: RateLimiter, allowance: Allowance) =>
  Math.round((await spent(limiter, allowance, 0)).left[0]! * 1e6) / 1e6

/** A process that stalls outlives its places, so that a fault says nothing: the check is made again then. */
const unstalled = async (check: () => Promise<void>): Promise<void> => {
  for (let turn = 1; ; turn++) {
    let last = performance.now()
    let worst = 0
    const tick = () => {
      const now = performance.now()
      worst = Math.max(worst, now - last)
      last = now
    }
    const ticking = setInterval(tick, 5)
    try {
      return await check()
    } catch (fault) {
      tick()
      if (worst < stallMs || turn === 20) throw fault
    } finally {
      clearInterval(ticking)
    }
  }
}

/** Ms between two ticks from which on the short places of a check may have ended. */
const stallMs = 40

export const rateLimiter = proof({
  contract: {
    'gives at most so many places': async (fresh: () => Promise<RateLimiter>) => {
      const limiter = await fresh()
      for (let i = 0; i < 3; i++) await taken(limiter, 'a', 3)
      await full(limiter, 'a', 3)
    },
    'gives at most so many also when all ask at once': async (fresh) => {
      const limiter = await fresh()
      const places = await Promise.all(Array.from({ length: 200 }, () => limiter.take('a', 7, long)))
      equal(places.filter((place) => place !== null).length, 7)
    },
    'a released place is free': async (fresh) => {
      const limiter = await fresh()
      const place = await taken(limiter, 'a', 1)
      await full(limiter, 'a', 1)
      await place.release()
      await taken(limiter, 'a', 1)
    },
    'releasing twice frees nobody else': async (fresh) => {
      const limiter = await fresh()
      const place = await taken(limiter, 'a', 1)
      await place.release()
      await taken(limiter, 'a', 1)
      await place.release()
      await full(limiter, 'a', 1)
    },
    'a place falls free after its time': (fresh) =>
      unstalled(async () => {
        const limiter = await fresh()
        await taken(limiter, 'a', 2, 80)
        await taken(limiter, 'a', 2, long)
        await full(limiter, 'a', 2)
        await sleep(95)
        await taken(limiter, 'a', 2)
        await full(limiter, 'a', 2)
      }),
    'a short place does not end a long one': async (fresh) => {
      const limiter = await fresh()
      await taken(limiter, 'a', 2, long)
      await taken(limiter, 'a', 2, 20)
      await sleep(35)
      await taken(limiter, 'a', 2)
      await full(limiter, 'a', 2)
    },
    'a renewed place is kept': (fresh) =>
      unstalled(async () => {
        const limiter = await fresh()
        const place = await taken(limiter, 'a', 1, 200)
        await sleep(120)
        equal(await place.renew(), true)
        await sleep(120)
        await full(limiter, 'a', 1)
      }),
    'renewing tells that a place was lost, and takes no other': async (fresh) => {
      const limiter = await fresh()
      const place = await taken(limiter, 'a', 1, 20)
      await sleep(35)
      equal(await place.renew(), false)
      const next = await taken(limiter, 'a', 1)
      equal(await place.renew(), false)
      await place.release()
      await full(limiter, 'a', 1)
      await next.release()
      equal(await next.renew(), false)
      await taken(limiter, 'a', 1)
    },
    'places under different names are independent': async (fresh) => {
      const limiter = await fresh()
      await taken(limiter, 'a', 1)
      const other = await taken(limiter, 'b', 1)
      await other.release()
      await full(limiter, 'a', 1)
    },
    'tells what is left, in the order of the charges': async (fresh) => {
      const limiter = await fresh()
      const charges = [
        { allowance: tokens('a', 10), amount: 3 },
        { allowance: tokens('b', 100), amount: 0.5 },
      ]
      const answer = await limiter.spend(charges)
      ok(answer.ok, 'accepted')
      deepEqual(answer.left, [7, 99.5])
      equal(await left(limiter, tokens('a', 10)), 7)
      equal(await left(limiter, tokens('b', 100)), 99.5)
    },
    'spends down to nothing and no further': async (fresh) => {
      const limiter = await fresh()
      const a = tokens('a', 10)
      await spent(limiter, a, 4)
      await spent(limiter, a, 6)
      await refused(limiter, a, 1)
    },
    'all charges or none': async (fresh) => {
      const limiter = await fresh()
      const [a, b, c] = [tokens('a', 10), tokens('b', 2), tokens('c', 10)]
      const answer = await limiter.spend([a, b, c].map((allowance) => ({ allowance, amount: 3 })))
      ok(!answer.ok, 'refused')
      for (const allowance of [a, b, c]) equal(await left(limiter, allowance), allowance.most)
    },
    'tells which charge was refused': async (fresh) => {
      const limiter = await fresh()
      const [a, b] = [tokens('a', 10, 1_000), tokens('b', 10, 1_000)]
      await spent(limiter, b, 10)
      const answer = await limiter.spend([a, b].map((allowance) => ({ allowance, amount: 5 })))
      ok(!answer.ok, 'refused')
      equal(answer.refused, 1)
    },
    'refuses until the wait is over, then accepts': async (fresh) => {
      const limiter = await fresh()
      const [a, b] = [tokens('a', 10, 200), tokens('b', 10, 400)]
      const charges = [a, b].map((allowance) => ({ allowance, amount: 4 }))
      await limiter.spend([a, b].map((allowance) => ({ allowance, amount: 10 })))
      const began = performance.now()
      const first = await limiter.spend(charges)
      const told = performance.now()
      ok(!first.ok, 'refused')
      ok(first.wait > 0 && first.wait <= 161, 'the longest wait of all')
      for (;;) {
        const asked = performance.now() - told
        const answer = await limiter.spend(charges)
        if (answer.ok) {
          ok(performance.now() - began >= first.wait - 5, 'not before')
          break
        }
        ok(asked <= first.wait + 3, 'not after')
        await sleep(5)
      }
    },
    'waits for ever for what never fits': async (fresh) => {
      const limiter = await fresh()
      equal((await refused(limiter, tokens('a', 10, 100), 11)).wait, Infinity)
      equal(await left(limiter, tokens('a', 10, 100)), 10)
    },
    'a changed most counts at once, and what was used stays used': async (fresh) => {
      const limiter = await fresh()
      await spent(limiter, tokens('a', 10), 10)
      await refused(limiter, tokens('a', 10), 1)
      equal(await left(limiter, tokens('a', 25)), 15)
      await spent(limiter, tokens('a', 25), 12)
      const lowered = await limiter.spend([{ allowance: tokens('a', 20), amount: 1 }])
      ok(!lowered.ok, 'lowered below what was used')
      equal(await left(limiter, tokens('a', 25)), 3)
    },
    'refills by nothing until its end, and tells how long that is': async (fresh) => {
      const limiter = await fresh()
      const until = Date.now() + 5_000
      const a = { ...tokens('a', 1_000, 5_000), until }
      await spent(limiter, a, 999)
      await sleep(30)
      equal(await left(limiter, a), 1)
      const { wait } = await refused(limiter, a, 2)
      ok(wait > 3_000 && wait <= 5_100, 'until its end')
      equal((await refused(limiter, a, 1_001)).wait, Infinity)
    },
    'a soft allowance refuses nothing and is counted': async (fresh) => {
      const limiter = await fresh()
      const a = { ...tokens('a', 10), soft: true }
      const answer = await spent(limiter, a, 15)
      deepEqual(answer.left, [-5])
      await refused(limiter, tokens('a', 10), 1)
      await refused(limiter, tokens('b', 10), 11)
    },
    'settling tells what is left': async (fresh) => {
      const limiter = await fresh()
      const answer = await spent(limiter, tokens('a', 10), 5)
      deepEqual(
        (await answer.settle([2]))?.map((left) => Math.round(left! * 1e6) / 1e6),
        [8],
      )
    },
    'refills evenly': async (fresh) => {
      const limiter = await fresh()
      const a = tokens('a', 1_000, 1_000)
      const before = performance.now()
      await spent(limiter, a, 1_000)
      const after = performance.now()
      for (let i = 0; i < 3; i++) {
        await sleep(12)
        const atLeast = performance.now() - after
        const have = await left(limiter, a)
        ok(have >= atLeast - 3 && have <= performance.now() - before + 3, 'as much as time has passed')
      }
    },
    'never holds more than its most': async (fresh) => {
      const limiter = await fresh()
      const a = tokens('a', 10, 20)
      await spent(limiter, a, 1)
      await sleep(25)
      equal(await left(limiter, a), 10)
      await (await spent(limiter, a, 5)).settle([-20])
      equal(await left(limiter, a), 10)
    },
    'settling gives back what was not used': async (fresh) => {
      const limiter = await fresh()
      const [a, b] = [tokens('a', 10), tokens('b', 10)]
      const answer = await limiter.spend([a, b].map((allowance) => ({ allowance, amount: 5 })))
      ok(answer.ok, 'accepted')
      await answer.settle([1, 5])
      equal(await left(limiter, a), 9)
      equal(await left(limiter, b), 5)
    },
    'settling takes what was used more, even below zero': async (fresh) => {
      const limiter = await fresh()
      const a = tokens('a', 10, 2_000)
      await (await spent(limiter, a, 5)).settle([12])
      const { wait } = await refused(limiter, a, 1)
      ok(wait > 400 && wait <= 600, 'the debt first')
    },
    'settling twice is settling once': async (fresh) => {
      const limiter = await fresh()
      const a = tokens('a', 10)
      const answer = await spent(limiter, a, 5)
      await answer.settle([3])
      await answer.settle([1])
      equal(await left(limiter, a), 7)
    },
    'never overspends when all ask at once': async (fresh) => {
      const limiter = await fresh()
      const a = tokens('a', 70)
      const answers = await Promise.all(Array.from({ length: 200 }, () => limiter.spend([{ allowance: a, amount: 1 }])))
      equal(answers.filter((answer) => answer.ok).length, 70)
    },
    'allowances of different names are independent': async (fresh) => {
      const limiter = await fresh()
      await spent(limiter, tokens('a', 1), 1)
      await spent(limiter, tokens('b', 1), 1)
      await refused(limiter, tokens('a', 1), 1)
    },
  },
  right: () => made(RateLimiter, use(memory), use(clock)),
  wrong,
})
