import { type Supplied, one } from '../../container.ts'
import { lazy } from '../../lazy.ts'
import { plugin } from '../../plugin.ts'
import { Ledger } from '../../ports/ledger.ts'
import { CurrentTrace, Observer } from '../../ports/observer.ts'
import { Clock, Log } from '../../ports/platform.ts'
import { Quotas, RateLimiter } from '../../ports/rate-limiter.ts'
import { UsageObserver } from '../../ports/usage-observer.ts'
import { Settings } from '../../settings.ts'
import { PriceList } from './price-list.ts'
import type { Reservations } from './reservation.ts'

export type { BilledModel } from './prices.ts'
export type { Reservation, SealedModels } from './reservation.ts'

/**
 * What keys and organisations use: taken from their allowances and budgets before a call and counted after it. What a key
 * uses in a day is taken from the allowances of its makers, too, and what it costs from their budgets.
 */
export type Meter = Reservations

/** The port of the meter. */
export const Meter = one<Meter>('Meter')

const reserving = lazy(() => import('./reservations.ts'))

const needs = {
  limiter: RateLimiter,
  ledger: Ledger,
  settings: Settings,
  clock: Clock,
  log: Log,
  observers: UsageObserver,
  watchers: Observer,
  lists: PriceList,
  traces: CurrentTrace,
  quotas: Quotas,
}

const opened = async ({ quotas, ...others }: Supplied<typeof needs>): Promise<Reservations> => {
  const [{ reservations }, all] = await Promise.all([reserving(), Promise.all(quotas.map((kind) => kind.load()))])
  return reservations({ ...others, quotas: all.filter((of) => of !== null) })
}

/** The code of reservations is loaded with the first call that is charged. */
export const meter = plugin({
  port: Meter,
  name: 'meter',
  needs,
  create: (supplied): Meter => {
    let made: Reservations | null = null
    const all = lazy(async () => (made ??= await opened(supplied)))
    return {
      reserve: (...call) => (made === null ? all().then((they) => they.reserve(...call)) : made.reserve(...call)),
      open: (...call) => (made === null ? all().then((they) => they.open(...call)) : made.open(...call)),
      book: (...call) => (made === null ? all().then((they) => they.book(...call)) : made.book(...call)),
      keep: () => made?.keep(),
      waits: (call) => made?.waits(call),
      spendAudio: (...call) =>
        made === null ? all().then((they) => they.spendAudio(...call)) : made.spendAudio(...call),
      dispose: async () => made?.dispose(),
    }
  },
})
