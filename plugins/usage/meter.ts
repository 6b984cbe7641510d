import type { Supplied } from '../../core/container.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Ledger } from '../../core/ports/ledger.ts'
import { CurrentTrace, Observer } from '../../core/ports/observer.ts'
import { Clock, Log } from '../../core/ports/platform.ts'
import { RateLimiter } from '../../core/ports/rate-limiter.ts'
import { Quotas } from './quotas/port.ts'
import { Settings } from '../../core/settings.ts'
import { PriceList, priceSettings } from '../shared/prices.ts'
import { Meter } from '../../core/inference/metering/meter.ts'

const reserving = lazy(() => import('./metering/reservations.ts'))

const needs = {
  limiter: RateLimiter,
  ledger: Ledger,
  settings: Settings,
  clock: Clock,
  log: Log,
  observers: Observer,
  lists: PriceList,
  traces: CurrentTrace,
  quotas: Quotas,
}

const opened = async ({ quotas, ...others }: Supplied<typeof needs>): Promise<Meter> => {
  const [{ reservations }, all] = await Promise.all([reserving(), Promise.all(quotas.map((kind) => kind.load()))])
  return reservations({ ...others, quotas: all.filter((of) => of !== null) })
}

/** The code of reservations is loaded with the first call that is charged. */
export const meter = plugin({
  port: Meter,
  name: 'meter',
  renewed: true,
  sections: [priceSettings],
  needs,
  create: (supplied): Meter => {
    let made: Meter | null = null
    const all = lazy(async () => (made ??= await opened(supplied)))
    return {
      reserve: (...call) => (made === null ? all().then((they) => they.reserve(...call)) : made.reserve(...call)),
      open: (caller, entry, estimate, record) =>
        made === null
          ? all().then((they) => they.open(caller, entry, estimate, record))
          : made.open(caller, entry, estimate, record),
      book: (...call) => (made === null ? all().then((they) => they.book(...call)) : made.book(...call)),
      keep: () => made?.keep(),
      waits: (call) => made?.waits(call),
      spendAudio: (...call) =>
        made === null ? all().then((they) => they.spendAudio(...call)) : made.spendAudio(...call),
      dispose: async () => made?.dispose(),
    }
  },
})
