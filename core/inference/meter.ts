import { type Caller, limitsOf } from '../access/caller.ts'
import { one } from '../container.ts'
import { TooMany } from '../errors.ts'
import { plugin } from '../plugin.ts'
import { Clock, Log } from '../ports/host.ts'
import { MetadataStore } from '../ports/metadata-store.ts'
import { RateLimiter, type Charge, type Spent } from '../ports/rate-limiter.ts'
import type { Usage } from '../ports/upstream.ts'
import { Settings } from '../settings.ts'
import { audioCostOf, costOf, type Mode } from './cost.ts'
import type { Entry } from './entry.ts'
import { ledger, type Counts } from './ledger.ts'
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
}

/** What is charged for. */
export type Billed = Pick<Entry, 'name' | 'settings'>

/** What keys and organisations use: taken from their allowances before a call and counted after it. */
export interface Meter {
  /** Throws TooMany, and then nothing was taken. */
  reserve(caller: Caller, entry: Billed | null, estimate: Estimate, mode?: Mode): Promise<Reservation<Usage>>
  /** As `reserve`, by the length of audio in seconds. */
  spendAudio(caller: Caller, entry: Billed | null, seconds: number, mode?: Mode): Promise<Reservation<number>>
  /** Writes what is not written yet. */
  dispose(): Promise<void>
}

export const Meter = one<Meter>('Meter')

const minute = 60_000
const day = 24 * 60 * minute

export const meter = plugin({
  port: Meter,
  name: 'meter',
  needs: { limiter: RateLimiter, rows: MetadataStore, settings: Settings, clock: Clock, log: Log },
  create: ({ limiter, rows, settings, clock, log }): Meter => {
    const book = ledger(rows, clock, log)
    let settling = 0
    let settled = () => {}

    const spend = async (charges: readonly Charge[]): Promise<(Spent & { ok: true }) | null> => {
      if (charges.length === 0) return null
      const spent = await limiter.spend(charges)
      if (spent.ok) return spent
      if (spent.wait === Infinity) throw new TooMany('The request is larger than its allowance')
      throw new TooMany('Allowance used up', { retryAfter: Math.ceil(spent.wait) })
    }

    const correct = (spent: Spent & { ok: true }, actual: readonly number[]): Promise<void> => {
      settling++
      const done = () => {
        if (--settling === 0) settled()
      }
      return spent.settle(actual).then(done, (cause: unknown) => {
        log.error('limits.unsettled', {}, cause)
        done()
      })
    }

    const once = <Truth>(
      charges: readonly Charge[],
      spent: (Spent & { ok: true }) | null,
      caller: Caller,
      entry: Billed | null,
      guess: Truth,
      amountOf: (truth: Truth) => number,
      countsOf: (truth: Truth, served: Billed | null) => Counts,
    ): Reservation<Truth> => {
      let settled = false
      return {
        headers: spent ? headersOf(charges, spent.left) : {},
        async settle(counted, backend, served = entry) {
          if (settled) return
          settled = true
          const truth = counted ?? (backend === null ? null : guess)
          const { key, organization } = caller
          const place = {
            organization,
            key,
            day: new Date(clock.now()).toISOString().slice(0, 10),
            model: served?.name ?? 'unknown',
          }
          book.add(place, truth === null ? { requests: 1, unanswered: 1 } : { requests: 1, ...countsOf(truth, served) })
          if (!spent) return
          const amount = truth === null ? 0 : amountOf(truth)
          await correct(
            spent,
            charges.map(() => amount),
          )
        },
      }
    }

    return {
      async reserve(caller, entry, estimate, mode = 'standard') {
        const charges: Charge[] = []
        const charge = (name: string, most: number | null, per: number) => {
          if (most === null) return
          // A long answer is let in while the allowance is whole, and paid for afterwards; a long question is not.
          const amount = estimate.input > most ? estimate.input : Math.min(most, estimate.input + estimate.output)
          charges.push({ allowance: { name: `tokens/${name}`, concern: 'tokens', most, per }, amount })
        }
        const key = limitsOf(caller, settings)
        const { organization } = settings.limits
        charge(`minute/key/${caller.key}`, key.tokensPerMinute, minute)
        charge(`minute/organization/${caller.organization}`, organization.tokensPerMinute, minute)
        charge(`day/key/${caller.key}`, key.tokensPerDay, day)
        charge(`day/organization/${caller.organization}`, organization.tokensPerDay, day)
        return once<Usage>(
          charges,
          await spend(charges),
          caller,
          entry,
          { ...estimate, estimated: true },
          ({ input, output }) => input + output,
          (usage, served) => ({
            input: usage.input,
            output: usage.output,
            reasoning: usage.reasoning ?? 0,
            cached: usage.cached ?? 0,
            estimated: usage.estimated ? 1 : 0,
            ...priced(served && costOf(served.settings, mode, usage)),
          }),
        )
      },

      async spendAudio(caller, entry, seconds, mode = 'standard') {
        const charges: Charge[] = []
        const charge = (name: string, minutes: number | null) => {
          if (minutes === null) return
          const most = minutes * 60
          charges.push({
            allowance: { name: `audio/day/${name}`, concern: 'tokens', most, per: day },
            amount: Math.min(most, seconds),
          })
        }
        charge(`key/${caller.key}`, limitsOf(caller, settings).audioMinutesPerDay)
        charge(`organization/${caller.organization}`, settings.limits.organization.audioMinutesPerDay)
        return once<number>(
          charges,
          await spend(charges),
          caller,
          entry,
          seconds,
          (seconds) => seconds,
          (seconds, served) => ({
            audio_seconds: seconds,
            ...priced(served && audioCostOf(served.settings, mode, seconds)),
          }),
        )
      },

      async dispose() {
        if (settling > 0) await new Promise<void>((resolve) => (settled = resolve))
        await book.dispose()
      },
    }
  },
})

const priced = (cost: number | null): Counts => (cost === null ? { unpriced: 1 } : { cost_micros: cost })

/** Of the allowance that has the smallest part left. */
const headersOf = (charges: readonly Charge[], left: readonly (number | null)[]): Readonly<Record<string, string>> => {
  let tightest: Charge['allowance'] | null = null
  let part = Infinity
  let rest = 0
  for (const [index, { allowance }] of charges.entries()) {
    const its = left[index]
    if (its == null || its / allowance.most >= part) continue
    tightest = allowance
    part = its / allowance.most
    rest = Math.max(0, Math.floor(its))
  }
  if (tightest === null || charges[0]!.allowance.name.startsWith('audio')) return {}
  return {
    'x-ratelimit-limit-tokens': String(tightest.most),
    'x-ratelimit-remaining-tokens': String(rest),
    'x-ratelimit-reset-tokens': `${Math.ceil(((1 - Math.max(0, part)) * tightest.per) / 1000)}s`,
  }
}
