import type { Caller } from '../../access/caller.ts'
import { TooMany } from '../../errors.ts'
import type { CurrentTrace } from '../../live/following.ts'
import type { Trace } from '../../live/trace.ts'
import type { Clock, Log } from '../../ports/platform.ts'
import type { RateLimiter, Charge, Spent } from '../../ports/rate-limiter.ts'
import type { UsageObserver } from '../../ports/usage-observer.ts'
import type { Settings } from '../../settings.ts'
import { allowances } from './allowances.ts'
import { budgetWarnings } from './budget-warnings.ts'
import type { BudgetWebhook } from './budget-webhook.ts'
import { type Budget, budgets, spentBudget, unknownPrice } from './budgets.ts'
import type { Ledger } from './ledger.ts'
import type { Consumption } from './price.ts'
import { type BilledModel, type Mode, prices } from './prices.ts'
import type { Reservation, Reservations } from './reservation.ts'
import { tariffOfAudio, unansweredCall, tariffOfTokens as tokens, type Tariff } from './tariffs.ts'
import { allowanceHeaders, overdrawnHeaders } from './token-headers.ts'
import type { Counts, Place } from './usage-rows.ts'

type Granted = Spent & { readonly ok: true }

/** What a call is paid with. */
interface Payment {
  /** Of tokens or seconds. */
  readonly work: readonly Charge[]
  readonly budgets: readonly Budget[]
  /** What is taken from each of the budgets. */
  readonly money: readonly Charge[]
}

/** One call to be paid. A null entry is a sealed call, whose model is known only afterwards. */
interface Call<Truth> {
  readonly caller: Caller
  readonly entry: BilledModel | null
  readonly mode: Mode
  readonly guess: Truth
}

interface MeterNeeds {
  readonly limiter: RateLimiter
  readonly ledger: Ledger
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Log
  readonly observers: readonly UsageObserver[]
  readonly webhook: BudgetWebhook
  readonly traces: readonly CurrentTrace[]
}

/** What all reservations of one generation share. */
const tillOf = (needs: MeterNeeds) => {
  const { limiter, settings, log, observers, webhook } = needs
  const { webhook: receiver } = settings.limits.budgets
  let settling = 0
  let settled = () => {}
  const done = () => {
    if (--settling === 0) settled()
  }
  const undone = (cause: unknown) => {
    log.error('limits.unsettled', {}, cause)
    done()
  }
  return {
    ...needs,
    ...prices(settings),
    allowancesOf: allowances(settings),
    budgetsOf: budgets(settings),
    warn: budgetWarnings(limiter, log, observers, (share) => {
      if (receiver !== undefined) webhook.tell(receiver, share)
    }),
    /** The work never rejects: what fails is logged. */
    settling(work: () => Promise<void>): Promise<void> {
      settling++
      return work().then(done, undone)
    },
    /** Resolves when nothing is being settled any more. */
    async rest(): Promise<void> {
      if (settling > 0) await new Promise<void>((resolve) => (settled = resolve))
    },
  }
}

type Till = ReturnType<typeof tillOf>

/**
 * What a call has to pay before it goes out. Throws Forbidden where a hard budget holds and the price is
 * unknown.
 */
const payment = (
  { budgetsOf, mostOf, settings, clock }: Till,
  { caller, entry, mode }: Call<unknown>,
  work: readonly Charge[],
  used: Consumption,
): Payment => {
  const its = budgetsOf(caller, clock.now())
  if (its.length === 0) return { work, budgets: its, money: [] }
  const cost = mostOf(entry, mode, used)
  const holds = its.some(({ allowance }) => allowance.soft !== true)
  if (cost === null && holds && settings.limits.budgets.unknownPrice === 'refuse') throw unknownPrice()
  const asked = mostOf(entry, mode, { ...used, output: 0 }) ?? 0
  const money = its.map(({ allowance }) => ({ allowance, amount: amountWithin(allowance.most, asked, cost ?? 0) }))
  return { work, budgets: its, money }
}

/**
 * Takes all charges in one step, or none of them. Throws TooMany for the first that does not fit. Null for a
 * call that no limit holds.
 */
const spend = async (
  { limiter, clock }: Till,
  { work, budgets, money }: Payment,
  tell: typeof allowanceHeaders,
): Promise<Granted | null> => {
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

/** Of the request, where it is listened to. */
const traceFor = ({ traces: [traceOf] }: Till, entry: BilledModel | null): Trace | null => {
  const trace = traceOf?.() ?? null
  if (entry !== null) trace?.chose(entry.name)
  return trace
}

/**
 * Reserves, and gives back what settles the reservation later. From here on, a journal counts the call if the
 * process dies.
 */
const open = async <Truth>(
  till: Till,
  call: Call<Truth>,
  work: readonly Charge[],
  tariff: Tariff<Truth>,
  tell: typeof allowanceHeaders,
): Promise<Reservation<Truth>> => {
  const { ledger, clock, observers, costOf, mostOf } = till
  const { caller, entry, mode, guess } = call
  const paid = payment(till, call, work, tariff.consumptionOf(guess))
  const spent = await spend(till, paid, tell)
  const start = clock.now()
  const trace = traceFor(till, entry)
  let settled = false
  const most = () => guessedCounts(tariff, guess, mostOf(entry, mode, tariff.consumptionOf(guess)))
  const opened = ledger.open(placeOf(caller, entry, start), most)

  const pay = async (amount: number, costOr: (reserved: number) => number): Promise<void> => {
    if (spent === null) return
    const actual = [...work.map(() => amount), ...paid.money.map(({ amount }) => costOr(amount))]
    await till.settling(async () => {
      const left = (await spent.settle(actual)) ?? []
      for (const [at, budget] of paid.budgets.entries()) {
        const its = left[work.length + at]
        if (its != null) await till.warn(budget, its, clock.now())
      }
    })
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

/** The reservations of one generation. */
export const reservations = (needs: MeterNeeds): Reservations => {
  const till = tillOf(needs)
  return {
    async reserve(caller, entry, estimate, mode = 'standard') {
      const { input, output } = estimate
      const work = till.allowancesOf.tokens(caller, needs.clock.now()).map((allowance): Charge => ({
        allowance,
        amount: amountWithin(allowance.most, input, input + output),
      }))
      return open(
        till,
        { caller, entry, mode, guess: { ...estimate, estimated: true } },
        work,
        tokens,
        allowanceHeaders,
      )
    },

    async spendAudio(caller, entry, seconds, mode = 'standard') {
      const work = till.allowancesOf.audio(caller, needs.clock.now()).map((allowance): Charge => ({
        allowance,
        amount: Math.min(allowance.most, seconds),
      }))
      return open(till, { caller, entry, mode, guess: seconds }, work, tariffOfAudio, () => ({}))
    },

    dispose: () => till.rest(),
  }
}

/** A long answer is let in while the allowance is whole, and paid for afterwards; a long question is not. */
const amountWithin = (most: number, question: number, all: number): number =>
  question > most ? question : Math.min(most, all)

/** Counts for observers; their members are never absent. */
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

/**
 * Where the call is counted: on the UTC day of this moment, and under `unknown` while its model is sealed.
 */
const placeOf = ({ organization, key, user, team, tags }: Caller, billed: BilledModel | null, now: number): Place => {
  const place = { organization, key, user, day: dayOf(now), model: billed?.name ?? 'unknown' }
  // Most callers have neither a team nor tags.
  if (team === undefined && tags === undefined) return place
  return { ...place, ...(team !== undefined && { team }), ...(tags !== undefined && { tags }) }
}

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
