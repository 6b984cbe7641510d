import type { Caller } from '../../access/caller.ts'
import { one } from '../../container.ts'
import { TooMany } from '../../errors.ts'
import { plugin } from '../../plugin.ts'
import { Clock, Log } from '../../ports/platform.ts'
import { RateLimiter, type Allowance, type Charge, type Spent } from '../../ports/rate-limiter.ts'
import type { Usage } from '../../ports/upstream.ts'
import { Settings } from '../../settings.ts'
import { allowances } from './allowances.ts'
import { audioCostOf, costOf, type Mode } from './cost.ts'
import type { Entry } from '../models/catalog-entry.ts'
import { Ledger, type Counts } from './ledger.ts'
import type { Estimate } from './tokens.ts'

export interface Reservation<Truth> {
  /** `x-ratelimit-{limit,remaining,reset}-tokens`; empty without a limit. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * Corrects the allowances and writes the totals; only the first call counts, and it never rejects. A backend that
   * answered without counting is counted as reserved; where none answered, all is handed back. `served` names the model
   * where it was not known before.
   */
  settle(truth: Truth | null, backend: string | null, served?: Billed | null): Promise<void>
  /** No model was asked: all is handed back and nothing is counted. */
  cancel(): Promise<void>
}

/** What is charged for. */
export type Billed = Pick<Entry, 'name' | 'settings'>

/**
 * What keys and organisations use: taken from their allowances before a call and counted after it. What a key uses in a
 * day is taken from the allowances of its makers, too.
 */
export interface Meter {
  /** Throws TooMany, and then nothing was taken. */
  reserve(caller: Caller, entry: Billed | null, estimate: Estimate, mode?: Mode): Promise<Reservation<Usage>>
  /** As `reserve`, by the length of audio in seconds. */
  spendAudio(caller: Caller, entry: Billed | null, seconds: number, mode?: Mode): Promise<Reservation<number>>
  /** Resolves when nothing is being settled any more. */
  dispose(): Promise<void>
}

export const Meter = one<Meter>('Meter')

const day = 86_400_000

type Granted = Spent & { readonly ok: true }

/** What a kind of use costs. */
interface Tariff<Truth> {
  amountOf(truth: Truth): number
  countsOf(truth: Truth, served: Billed | null, mode: Mode): Counts
}

export const meter = plugin({
  port: Meter,
  name: 'meter',
  needs: { limiter: RateLimiter, ledger: Ledger, settings: Settings, clock: Clock, log: Log },
  create: ({ limiter, ledger, settings, clock, log }): Meter => {
    let settling = 0
    let settled = () => {}

    const allowancesOf = allowances(settings)

    const spend = async (charges: readonly Charge[], tell: typeof headersOf): Promise<Granted | null> => {
      if (charges.length === 0) return null
      const spent = await limiter.spend(charges)
      if (spent.ok) return spent
      // Only who is refused waits for this second look.
      const seen = await limiter.spend(charges.map((charge) => ({ ...charge, amount: 0 })))
      const headers = tell(charges, seen.ok ? seen.left : overdrawn(charges, seen), clock.now())
      if (spent.wait === Infinity) throw new TooMany('The request is larger than its allowance', { headers })
      throw new TooMany('Allowance used up', { retryAfter: Math.ceil(spent.wait), headers })
    }

    const done = () => {
      if (--settling === 0) settled()
    }
    const undone = (cause: unknown) => {
      log.error('limits.unsettled', {}, cause)
      done()
    }

    const reserved = <Truth>(
      spent: Granted | null,
      headers: Readonly<Record<string, string>>,
      { key, organization }: Caller,
      entry: Billed | null,
      guess: Truth,
      mode: Mode,
      { amountOf, countsOf }: Tariff<Truth>,
    ): Reservation<Truth> => {
      let settled = false
      const pay = async (amount: number): Promise<void> => {
        if (spent === null) return
        settling++
        await spent.settle(spent.left.map(() => amount)).then(done, undone)
      }
      return {
        headers,
        async cancel() {
          if (settled) return
          settled = true
          await pay(0)
        },
        async settle(counted, backend, served = entry) {
          if (settled) return
          settled = true
          const truth = counted ?? (backend === null ? null : guess)
          const place = { organization, key, day: dayOf(clock.now()), model: served?.name ?? 'unknown' }
          ledger.add(place, truth === null ? nothing : countsOf(truth, served, mode))
          await pay(truth === null ? 0 : amountOf(truth))
        },
      }
    }

    return {
      async reserve(caller, entry, estimate, mode = 'standard') {
        const { input, output } = estimate
        const now = clock.now()
        const charges = allowancesOf.tokens(caller, now).map((allowance): Charge => {
          const { most } = allowance
          // A long answer is let in while the allowance is whole, and paid for afterwards; a long question is not.
          return { allowance, amount: input > most ? input : Math.min(most, input + output) }
        })
        const spent = await spend(charges, headersOf)
        const headers = spent === null ? {} : headersOf(charges, spent.left, now)
        return reserved<Usage>(spent, headers, caller, entry, { input, output, estimated: true }, mode, tokens)
      },

      async spendAudio(caller, entry, seconds, mode = 'standard') {
        const charges = allowancesOf.audio(caller, clock.now()).map((allowance): Charge => ({
          allowance,
          amount: Math.min(allowance.most, seconds),
        }))
        return reserved<number>(await spend(charges, () => ({})), {}, caller, entry, seconds, mode, audio)
      },

      async dispose() {
        if (settling > 0) await new Promise<void>((resolve) => (settled = resolve))
      },
    }
  },
})

/** UTC; a request costs little, and to write a date costs more than to look whether it is still the same. */
const dayOf = (() => {
  let number = -1
  let text = ''
  return (now: number): string => {
    const today = Math.floor(now / day)
    if (today !== number) {
      number = today
      text = new Date(now).toISOString().slice(0, 10)
    }
    return text
  }
})()

const nothing: Counts = { requests: 1, unanswered: 1 }

const tokens: Tariff<Usage> = {
  amountOf: ({ input, output }) => input + output,
  countsOf: (usage, served, mode) => {
    const cost = served && costOf(served.settings, mode, usage)
    return {
      requests: 1,
      input: usage.input,
      output: usage.output,
      reasoning: usage.reasoning ?? 0,
      cached: usage.cached ?? 0,
      estimated: usage.estimated ? 1 : 0,
      unpriced: cost === null ? 1 : 0,
      cost_micros: cost ?? 0,
    }
  },
}

const audio: Tariff<number> = {
  amountOf: (seconds) => seconds,
  countsOf: (seconds, served, mode) => {
    const cost = served && audioCostOf(served.settings, mode, seconds)
    return { requests: 1, audio_seconds: seconds, unpriced: cost === null ? 1 : 0, cost_micros: cost ?? 0 }
  },
}

/** Below zero for the allowance that is overdrawn; null for the others, of which nothing was told. */
const overdrawn = (
  charges: readonly Charge[],
  { refused, wait }: Spent & { readonly ok: false },
): readonly (number | null)[] =>
  charges.map(({ allowance: { most, per, until } }, at) => {
    if (at !== refused) return null
    return until === undefined ? (-wait * most) / per : 0
  })

/** Of the allowance that has the smallest part left. */
const headersOf = (
  charges: readonly Charge[],
  left: readonly (number | null)[],
  now: number,
): Readonly<Record<string, string>> => {
  let tightest: Allowance | null = null
  let part = Infinity
  let rest = 0
  for (let i = 0; i < charges.length; i++) {
    const { allowance } = charges[i]!
    const its = left[i]
    if (its == null || its / allowance.most >= part) continue
    tightest = allowance
    part = its / allowance.most
    rest = Math.max(0, Math.floor(its))
  }
  if (tightest === null) return {}
  return {
    'x-ratelimit-limit-tokens': String(tightest.most),
    'x-ratelimit-remaining-tokens': String(rest),
    'x-ratelimit-reset-tokens': `${Math.ceil(wholeIn(tightest, part, now) / 1000)}s`,
  }
}

/** Ms until an allowance of which this part is left is whole. */
const wholeIn = ({ per, until }: Allowance, part: number, now: number): number =>
  until === undefined ? (1 - Math.max(0, part)) * per : Math.max(0, until - now)
