import type { Caller } from '../../access/caller.ts'
import { one } from '../../container.ts'
import { TooMany } from '../../errors.ts'
import { plugin } from '../../plugin.ts'
import { Clock, Log } from '../../ports/platform.ts'
import { CurrentTrace } from '../../live/following.ts'
import type { Trace } from '../../live/trace.ts'
import { RateLimiter, type Charge, type Spent } from '../../ports/rate-limiter.ts'
import { UsageObserver } from '../../ports/usage-observer.ts'
import { Settings } from '../../settings.ts'
import { allowances } from './allowances.ts'
import { budgetWarnings } from './budget-warnings.ts'
import { BudgetWebhook } from './budget-webhook.ts'
import { type Budget, budgets, spentBudget, unknownPrice } from './budgets.ts'
import { Ledger } from './ledger.ts'
import type { Consumption } from './price.ts'
import { type BilledModel, type Mode, prices } from './prices.ts'
import { tariffOfAudio, unansweredCall, tariffOfTokens as tokens, type Tariff } from './tariffs.ts'
import { allowanceHeaders, overdrawnHeaders } from './token-headers.ts'
import type { Estimate } from './tokens.ts'
import type { Counts, Place } from './usage-rows.ts'

export type { BilledModel } from './prices.ts'

export interface Reservation<Truth> {
  /** `x-ratelimit-{limit,remaining,reset}-tokens`; empty without a limit. */
  readonly headers: Readonly<Record<string, string>>
  /** The first token of a stream has come. */
  began(): void
  /**
   * Corrects the allowances and writes the totals; only the first call counts, and it never rejects. A backend that
   * answered without counting is counted as reserved; where none answered, all is handed back. `served` names the model
   * where it was not known before.
   */
  settle(truth: Truth | null, backend: string | null, served?: BilledModel | null): Promise<void>
  /** No model was asked: all is handed back and nothing is counted. */
  cancel(): Promise<void>
}

/**
 * What keys and organisations use: taken from their allowances and budgets before a call and counted after it. What a key
 * uses in a day is taken from the allowances of its makers, too, and what it costs from their budgets.
 */
export interface Meter {
  /** Throws TooMany, or Forbidden where a budget holds and the price is unknown; then nothing was taken. */
  reserve(caller: Caller, entry: BilledModel | null, estimate: Estimate, mode?: Mode): Promise<Reservation<Consumption>>
  /** As `reserve`, by the length of audio in seconds. */
  spendAudio(caller: Caller, entry: BilledModel | null, seconds: number, mode?: Mode): Promise<Reservation<number>>
  /** Resolves when nothing is being settled any more. */
  dispose(): Promise<void>
}

export const Meter = one<Meter>('Meter')

type Granted = Spent & { readonly ok: true }

/** What a call is paid with. */
interface Payment {
  /** Of tokens or seconds. */
  readonly work: readonly Charge[]
  readonly budgets: readonly Budget[]
  /** What is taken from each of the budgets. */
  readonly money: readonly Charge[]
}

interface Call<Truth> {
  readonly caller: Caller
  readonly entry: BilledModel | null
  readonly mode: Mode
  readonly guess: Truth
}

export const meter = plugin({
  port: Meter,
  name: 'meter',
  needs: {
    limiter: RateLimiter,
    ledger: Ledger,
    settings: Settings,
    clock: Clock,
    log: Log,
    observers: UsageObserver,
    webhook: BudgetWebhook,
    traces: CurrentTrace,
  },
  create: ({ limiter, ledger, settings, clock, log, observers, webhook, traces: [traceOf] }): Meter => {
    let settling = 0
    let settled = () => {}

    const allowancesOf = allowances(settings)
    const budgetsOf = budgets(settings)
    const { costOf, mostOf } = prices(settings)
    const { webhook: receiver } = settings.limits.budgets
    const warn = budgetWarnings(limiter, log, observers, (share) => {
      if (receiver !== undefined) webhook.tell(receiver, share)
    })

    const payment = ({ caller, entry, mode }: Call<unknown>, work: readonly Charge[], used: Consumption): Payment => {
      const its = budgetsOf(caller, clock.now())
      if (its.length === 0) return { work, budgets: its, money: [] }
      const cost = mostOf(entry, mode, used)
      const holds = its.some(({ allowance }) => allowance.soft !== true)
      if (cost === null && holds && settings.limits.budgets.unknownPrice === 'refuse') throw unknownPrice()
      const asked = mostOf(entry, mode, { ...used, output: 0 }) ?? 0
      const money = its.map(({ allowance }) => ({ allowance, amount: amountWithin(allowance.most, asked, cost ?? 0) }))
      return { work, budgets: its, money }
    }

    const spend = async ({ work, budgets, money }: Payment, tell: typeof allowanceHeaders): Promise<Granted | null> => {
      const charges = [...work, ...money]
      if (charges.length === 0) return null
      const spent = await limiter.spend(charges)
      if (spent.ok) return spent
      const { refused, wait } = spent
      // Only who is refused waits for this second look.
      const seen = await limiter.spend(charges.map((charge) => ({ ...charge, amount: 0 })))
      const now = clock.now()
      const headers = tell(work, seen.ok ? seen.left : overdrawnHeaders(charges, seen), now)
      const budget = budgets[refused - work.length]
      if (budget !== undefined) throw spentBudget(budget, wait, now, headers)
      if (wait === Infinity) throw new TooMany('The request is larger than its allowance', { headers })
      throw new TooMany('Allowance used up', { retryAfter: Math.ceil(wait), headers })
    }

    const done = () => {
      if (--settling === 0) settled()
    }
    const undone = (cause: unknown) => {
      log.error('limits.unsettled', {}, cause)
      done()
    }

    /** Of the request, where it is listened to. */
    const traceFor = (entry: BilledModel | null): Trace | null => {
      const trace = traceOf?.() ?? null
      if (entry !== null) trace?.chose(entry.name)
      return trace
    }

    const open = async <Truth>(
      call: Call<Truth>,
      work: readonly Charge[],
      tariff: Tariff<Truth>,
      tell: typeof allowanceHeaders,
    ): Promise<Reservation<Truth>> => {
      const { caller, entry, mode, guess } = call
      const paid = payment(call, work, tariff.consumptionOf(guess))
      const spent = await spend(paid, tell)
      const start = clock.now()
      const trace = traceFor(entry)
      let settled = false
      const most = () => guessedCounts(tariff, guess, mostOf(entry, mode, tariff.consumptionOf(guess)))
      const opened = ledger.open(placeOf(caller, entry, start), most)

      const pay = async (amount: number, costOr: (reserved: number) => number): Promise<void> => {
        if (spent === null) return
        settling++
        const actual = [...work.map(() => amount), ...paid.money.map(({ amount }) => costOr(amount))]
        const settle = async () => {
          const left = (await spent.settle(actual)) ?? []
          for (const [at, budget] of paid.budgets.entries()) {
            const its = left[work.length + at]
            if (its != null) await warn(budget, its, clock.now())
          }
        }
        await settle().then(done, undone)
      }

      return {
        headers: spent === null ? {} : tell(work, spent.left, start),
        began() {
          trace?.began()
          for (const observer of observers) observer.began(entry?.name ?? 'unknown', clock.now() - start)
        },
        async cancel() {
          if (settled) return
          settled = true
          ledger.cancel(opened)
          await pay(0, () => 0)
        },
        async settle(counted, backend, served = entry) {
          if (settled) return
          settled = true
          const truth = counted ?? (backend === null ? null : guess)
          const place = placeOf(caller, served, clock.now())
          if (truth === null) {
            ledger.settle(opened, place, unansweredCall)
            return pay(0, () => 0)
          }
          const used = tariff.consumptionOf(truth)
          const cost = served && costOf(served, backend, mode, used)
          ledger.settle(opened, backend === null ? place : { ...place, backend }, tariff.countsOf(truth, cost))
          const told = { ...countsOf(place.model, used), cost }
          for (const observer of observers) observer.used({ ...told, backend: backend ?? 'unknown' })
          trace?.used({ ...told, backend })
          await pay(tariff.amountOf(truth), (reserved) => cost ?? reserved)
        },
      }
    }

    return {
      async reserve(caller, entry, estimate, mode = 'standard') {
        const { input, output } = estimate
        const work = allowancesOf.tokens(caller, clock.now()).map((allowance): Charge => ({
          allowance,
          amount: amountWithin(allowance.most, input, input + output),
        }))
        return open({ caller, entry, mode, guess: { ...estimate, estimated: true } }, work, tokens, allowanceHeaders)
      },

      async spendAudio(caller, entry, seconds, mode = 'standard') {
        const work = allowancesOf.audio(caller, clock.now()).map((allowance): Charge => ({
          allowance,
          amount: Math.min(allowance.most, seconds),
        }))
        return open({ caller, entry, mode, guess: seconds }, work, tariffOfAudio, () => ({}))
      },

      async dispose() {
        if (settling > 0) await new Promise<void>((resolve) => (settled = resolve))
      },
    }
  },
})

/** A long answer is let in while the allowance is whole, and paid for afterwards; a long question is not. */
const amountWithin = (most: number, question: number, all: number): number =>
  question > most ? question : Math.min(most, all)

const countsOf = (model: string, { input, output, cached = 0, reasoning = 0 }: Consumption) => ({
  model,
  input,
  output,
  cached,
  reasoning,
})

/** What counts for a call when its process is killed. */
const guessedCounts = <Truth>(tariff: Tariff<Truth>, guess: Truth, cost: number | null): Counts => ({
  ...tariff.countsOf(guess, cost),
  estimated: 1,
  estimated_cost_micros: cost ?? 0,
})

const placeOf = ({ organization, key, user, team, tags }: Caller, billed: BilledModel | null, now: number): Place => ({
  ...{ organization, key, user, ...(team !== undefined && { team }), ...(tags !== undefined && { tags }) },
  day: dayOf(now),
  model: billed?.name ?? 'unknown',
})

const day = 86_400_000

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
