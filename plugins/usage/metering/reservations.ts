import type { Caller } from '../../../core/access/caller.ts'
import { lazy } from '../../../core/plugin.ts'
import type { Counts, Ledger, Place } from '../../../core/ports/ledger.ts'
import { observed } from '../../../core/ports/observed.ts'
import type { CurrentTrace, Observer, Trace } from '../../../core/ports/observer.ts'
import type { Clock, Log } from '../../../core/ports/platform.ts'
import { type Soon, soon } from '../../../core/ports/soon.ts'
import type { Charge, RateLimiter, Spent } from '../../../core/ports/rate-limiter.ts'
import type { Quota, QuotaCall, QuotasOf } from '../quotas/port.ts'
import type { Settings } from '../../../core/settings.ts'
import { keptCalls } from './kept-calls.ts'
import type { Estimate } from '../../../core/inference/metering/tokens.ts'
import { allowances } from './allowances.ts'
import { chargesFor } from './charges.ts'
import { refuse } from './refuse.ts'
import { costOfParts } from './cost-of-parts.ts'
import { budgetWarnings } from './budget-warnings.ts'
import { budgets, unknownPrice } from './budgets.ts'
import type { Billed, BilledModel, Meter, Reservation, SealedModels } from '../../../core/inference/metering/meter.ts'
import type { Consumption } from '../../../core/inference/metering/consumption.ts'
import type { PriceList } from '../../shared/prices.ts'
import type { AskedCall, Call, Payment } from './paid-call.ts'
import { placeOf } from './places.ts'
import { prices } from './prices.ts'
import { type Tariff, tariffOfAudio, tariffOfTokens, unansweredCall } from './tariffs.ts'
import { allowanceHeaders, tightestHeaders } from './token-headers.ts'

const windowing = lazy(() => import('./model-windows.ts'))

type Granted = Spent & { readonly ok: true }

interface MeterNeeds {
  readonly limiter: RateLimiter
  readonly ledger: Ledger
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Log
  readonly observers: readonly Observer[]
  readonly lists: readonly PriceList[]
  readonly traces: readonly CurrentTrace[]
  readonly quotas: readonly QuotasOf[]
}

/** What all reservations of one generation share. */
const tillOf = (needs: MeterNeeds) => {
  const { limiter, settings, log, observers, lists } = needs
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
    ...prices(settings, lists),
    allowancesOf: allowances(settings),
    budgetsOf: budgets(settings),
    observed: observed(observers, log),
    warn: budgetWarnings(limiter, log, observers, settings),
    /** The work never fails: its fault is logged. */
    settling(work: () => Soon<void>): Soon<void> {
      settling++
      try {
        const going = work()
        if (going instanceof Promise) return going.then(done, undone)
        done()
      } catch (fault) {
        undone(fault)
      }
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
  till: Till,
  { caller, entry, mode, sealed, user, isPast = false }: Call<unknown>,
  work: readonly Charge[],
  used: Consumption,
): Payment => {
  const { budgetsOf, mostOf, settings, clock } = till
  const budgets = budgetsOf(caller, clock.now())
  const all = till.quotas.length === 0 ? none : quotasOf(till, { caller, model: entry?.name ?? null, user })
  const quotas = isPast && all.length > 0 ? all.filter(({ allowance }) => allowance.concern === 'money') : all
  if (budgets.length === 0 && quotas.length === 0) return { work, budgets, quotas, charges: work, used }
  const ofMoney = [...budgets, ...quotas].filter(({ allowance }) => allowance.concern === 'money')
  const cost = ofMoney.length === 0 ? null : mostOf(entry, mode, used, sealed)
  const holds = ofMoney.some(({ allowance }) => allowance.soft !== true)
  if (cost === null && holds && settings.limits.budgets.unknownPrice === 'refuse') throw unknownPrice()
  const question = cost === null ? 0 : (mostOf(entry, mode, { ...used, output: 0 }, sealed) ?? 0)
  const chargeOf = chargesFor(used, question, cost, amountWithin)
  return { work, budgets, quotas, charges: [...work, ...[...budgets, ...quotas].map(chargeOf)], used }
}

const quotasOf = ({ quotas, clock }: Till, call: QuotaCall): readonly Quota[] =>
  quotas.length === 0 ? none : quotas.flatMap((each) => each.of(call, clock.now()))

/**
 * Takes all charges in one step, or none of them. Throws TooMany for the first that does not fit. Null for a
 * call that no limit holds.
 */
const spend = (till: Till, paid: Payment, kind: Pick<Kind<never>, 'tell' | 'limit'>): Soon<Granted | null> => {
  if (paid.charges.length === 0) return null
  const grantedBy = (spent: Spent) => (spent.ok ? spent : refuse(till, paid, spent, kind))
  const spent = till.limiter.spend(paid.charges)
  return spent instanceof Promise ? spent.then(grantedBy) : grantedBy(spent)
}

/** Of the request, where it is listened to. */
const traceFor = ({ traces: [traceOf] }: Till, entry: BilledModel | null): Trace | null => {
  const trace = traceOf?.() ?? null
  if (entry !== null) trace?.chose(entry.name)
  return trace
}

/** How a kind of call is paid and told. */
interface Kind<Truth> {
  readonly tariff: Tariff<Truth>
  readonly tell: typeof allowanceHeaders
  readonly limit: 'tokens' | 'audio'
}

/**
 * Reserves, and gives back what settles the reservation later. From here on, a journal counts the call if the
 * process dies.
 */
const open = <Truth>(
  till: Till,
  call: Call<Truth>,
  work: readonly Charge[],
  kind: Kind<Truth>,
): Soon<Reservation<Truth>> => {
  const paid = payment(till, call, work, kind.tariff.consumptionOf(call.guess))
  const spent = spend(till, paid, kind)
  return spent instanceof Promise
    ? spent.then((later) => new Reserved(till, call, paid, kind, later))
    : new Reserved(till, call, paid, kind, spent)
}

/** Opens a sealed call; the enclave tells its models where a budget or a window of a model holds. */
const openSealed = <Truth>(
  till: Till,
  asking: AskedCall<Truth>,
  models: SealedModels,
  ...rest: readonly [work: readonly Charge[], kind: Kind<Truth>]
): Soon<Reservation<Truth>> => {
  const { caller, user } = asking
  const call = { ...asking, entry: null, mode: 'confidential' } as const
  const budgets = [...till.budgetsOf(caller, till.clock.now()), ...quotasOf(till, { caller, model: null, user })]
  const isPaid = budgets.some(({ allowance }) => allowance.concern === 'money')
  const hasWindows = till.quotas.some(({ models }) => models.length > 0)
  if (!isPaid && !hasWindows) return open(till, call, ...rest)
  return soon(models(), async (sealed) => {
    if (!hasWindows) return open(till, { ...call, sealed }, ...rest)
    const used = rest[1].tariff.consumptionOf(asking.guess)
    const windows = await (await windowing()).modelWindows(till, { caller, user, used, sealed }, amountWithin)
    return open(till, { ...call, ...(isPaid && { sealed }), windows }, ...rest)
  })
}

/** Opens a call of a named model or of a sealed one. */
const opened = <Truth>(
  till: Till,
  asking: AskedCall<Truth>,
  billed: Billed,
  ...rest: readonly [work: readonly Charge[], kind: Kind<Truth>]
): Soon<Reservation<Truth>> =>
  typeof billed === 'function'
    ? openSealed(till, asking, billed, ...rest)
    : open(till, { ...asking, entry: billed, mode: 'standard' }, ...rest)

const nothing = {}
const none: readonly never[] = []

/** A call that is paid for. A class: each call of a model makes one. */
class Reserved<Truth> implements Reservation<Truth> {
  readonly headers: Readonly<Record<string, string>>
  readonly full: Reservation<Truth>['full']
  readonly #till: Till
  readonly #call: Call<Truth>
  readonly #paid: Payment
  readonly #tariff: Tariff<Truth>
  readonly #limit: Kind<Truth>['limit']
  readonly #spent: Granted | null
  readonly #start: number
  readonly #trace: Trace | null
  /** The number of the call in the ledger; null for one of the past, which a kill leaves to its next booking. */
  readonly #opened: number | null
  #isSettled = false

  constructor(
    till: Till,
    call: Call<Truth>,
    paid: Payment,
    { tariff, tell, limit }: Kind<Truth>,
    spent: Granted | null,
  ) {
    const { caller, entry, mode, guess, sealed, record, isPast = false } = call
    this.#till = till
    this.#call = call
    this.full = call.windows?.full
    this.#paid = paid
    this.#tariff = tariff
    this.#limit = limit
    this.#spent = spent
    this.#start = till.clock.now()
    this.#trace = traceFor(till, entry)
    if (entry !== null && record !== undefined) record.model = entry.name
    this.headers = spent === null ? nothing : tell(paid.charges, spent.left, this.#start)
    const most = () => tariff.guessOf(guess, till.mostOf(entry, mode, paid.used, sealed))
    this.#opened = isPast ? null : till.ledger.open(placeOf(caller, entry, this.#start, null), most)
    if (!isPast) this.#keep()
  }

  began(): void {
    const { observed, clock } = this.#till
    this.#trace?.began()
    observed.firstToken(this.#call.entry?.name ?? 'unknown', clock.now() - this.#start)
  }

  cancel(): Soon<void> {
    if (this.#isSettled) return
    this.#isSettled = true
    if (this.#opened !== null) this.#till.ledger.cancel(this.#opened)
    return this.#pay(0, 0, 0)
  }

  settle(counted: Truth | null, backend: string | null, by: BilledModel | string | null | undefined): Soon<void> {
    if (this.#isSettled) return
    this.#isSettled = true
    const { clock } = this.#till
    const { caller, entry, guess } = this.#call
    const served = typeof by === 'string' ? servedBy(entry, by) : by === undefined ? entry : by
    const truth = counted ?? (backend === null ? null : guess)
    const place = placeOf(caller, served, clock.now(), truth === null ? null : backend)
    if (truth === null) {
      this.#count(place, unansweredCall)
      return this.#pay(0, 0)
    }
    const used = this.#tariff.consumptionOf(truth)
    const cost = served && this.#costOf(served, backend, used)
    this.#count(place, this.#tariff.countsOf(truth, cost))
    this.#tell(place.model, used, cost, backend)
    const amount = this.#tariff.amountOf(truth)
    const { windows } = this.#call
    if (windows === undefined || served === null) return this.#pay(amount, cost)
    const actual = { tokens: this.#limit === 'tokens' ? amount : 0, money: cost ?? 0, requests: 1 }
    return soon(
      this.#till.settling(() => windows.settle(served.name, actual)),
      () => this.#pay(amount, cost),
    )
  }

  #tell(
    model: string,
    { input, output, cached = 0, reasoning = 0 }: Consumption,
    cost: number | null,
    by: string | null,
  ) {
    const { caller, record } = this.#call
    const { organization, team = null, key, tags = none } = caller
    if (record !== undefined) {
      record.model = model
      record.backend = by
      record.tokens += input + output
    }
    const backend = by ?? 'unknown'
    const used = { model, backend, input, output, cached, reasoning, cost, organization, team, key, tags }
    this.#till.observed.used(used)
    this.#trace?.used({ ...used, backend: by })
  }

  #costOf(served: BilledModel, backend: string | null, used: Consumption): number | null {
    const { entry, mode } = this.#call
    if (used.broken === undefined) return this.#till.costOf(served, backend, mode, used)
    return costOfParts(this.#till, { servedBy: (by) => servedBy(entry, by), served, backend, mode }, used)
  }

  #count(place: Place, counts: Counts): void {
    const { ledger } = this.#till
    ledger.settle(this.#opened ?? ledger.open(place, () => counts), place, counts)
    this.#keep()
  }

  #keep(): void {
    if (this.#call.keepsLater !== true) this.#till.ledger.keep()
  }

  /** Corrects what was taken; budgets keep what they gave where the cost is unknown. */
  #pay(amount: number, cost: number | null, requests = 1): Soon<void> {
    const spent = this.#spent
    if (spent === null) return
    const actual = this.#actual(amount, cost, requests)
    return this.#till.settling(() => {
      const left = spent.settle(actual)
      return left instanceof Promise ? left.then((later) => this.#warn(later)) : this.#warn(left)
    })
  }

  /** What each charge is in truth. */
  #actual(amount: number, cost: number | null, requests: number): number[] {
    const { work, charges } = this.#paid
    const tokens = this.#limit === 'tokens' ? amount : 0
    const actual = work.map(() => amount)
    for (let at = work.length; at < charges.length; at++) {
      const { allowance, amount: reserved } = charges[at]!
      actual.push({ tokens, money: cost ?? reserved, requests }[allowance.concern])
    }
    return actual
  }

  #warn(left: readonly (number | null)[] | void): Soon<void> {
    const { warn, clock } = this.#till
    const { work, budgets } = this.#paid
    if (left === undefined || budgets.length === 0) return
    let last: Soon<void> = undefined
    for (const [at, budget] of budgets.entries()) {
      const rest = left[work.length + at]
      if (rest != null) last = soon(last, () => warn(budget, rest, clock.now()))
    }
    return last
  }
}

/** The model with the candidate alone that answered. */
const servedBy = (entry: BilledModel | null, by: string): BilledModel | null =>
  entry?.candidates === undefined || entry.candidates.length === 1
    ? entry
    : { ...entry, candidates: entry.candidates.filter(({ id }) => id === by) }

const audio: Kind<number> = {
  tariff: tariffOfAudio,
  tell: (...told) => tightestHeaders('requests', ...told),
  limit: 'audio',
}

/** The reservations of one generation. */
export const reservations = (needs: MeterNeeds): Meter => {
  const till = tillOf(needs)
  const { cachedTokens } = needs.settings.limits
  const tokens: Kind<Consumption> = { tariff: tariffOfTokens(cachedTokens), tell: allowanceHeaders, limit: 'tokens' }
  return {
    reserve(caller, billed, estimate, record) {
      const asking: AskedCall<Consumption> = { caller, guess: guessOf(estimate), user: estimate.user, record }
      return opened(till, asking, billed, workOf(till, caller, estimate), tokens)
    },

    book: (caller, entry, guess, record) =>
      open(till, { caller, entry, mode: 'standard', guess, record, isPast: true }, [], tokens),

    open(caller, entry, estimate, record) {
      const [guess, { user }] = [guessOf(estimate), estimate]
      const call = { caller, entry, mode: 'standard', guess, user, keepsLater: true, record } as const
      return open(till, call, workOf(till, caller, estimate), tokens)
    },

    keep: () => till.ledger.keep(),
    waits: keptCalls(needs.ledger),

    spendAudio(caller, billed, seconds, record) {
      const work = till.allowancesOf.audio(caller, needs.clock.now()).map((allowance): Charge => ({
        allowance,
        amount: Math.min(allowance.most, seconds),
      }))
      return opened(till, { caller, guess: seconds, record }, billed, work, audio)
    },

    dispose: () => till.rest(),
  }
}

/** A spread would give each guess a shape of its own. */
const guessOf = (estimate: Estimate): Consumption => {
  const { input, output, images, characters } = estimate
  return { input, output, images, characters, estimated: true }
}

const workOf = ({ allowancesOf, clock }: Till, caller: Caller, { input, output }: Estimate): readonly Charge[] =>
  allowancesOf.tokens(caller, clock.now()).map((allowance) => ({
    allowance,
    amount: amountWithin(allowance.most, input, input + output),
  }))

/** A long answer is let in while the allowance is whole, and paid for afterwards; a long question is not. */
const amountWithin = (most: number, question: number, all: number): number =>
  question > most ? question : Math.min(most, all)
