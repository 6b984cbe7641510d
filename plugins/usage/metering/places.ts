import type { Caller } from '../../../core/access/caller.ts'
import type { Place } from '../../../core/ports/ledger.ts'
import type { BilledModel } from '../../../core/inference/metering/meter.ts'

/** The places of a caller on one day, by the model and the backend: its calls have one of a few. */
interface DayPlaces {
  readonly day: string
  readonly models: Map<string, Map<string | null, Place>>
  /** Of all models. */
  places: number
}
const known = new WeakMap<Caller, DayPlaces>()
/** Places that are remembered for one caller. */
const mostPlaces = 256

/** Where the call is counted: on the UTC day of this moment, and under `unknown` while its model is sealed. */
export const placeOf = (caller: Caller, billed: BilledModel | null, now: number, backend: string | null): Place => {
  const day = dayOf(now)
  const model = billed?.name ?? 'unknown'
  let all = known.get(caller)
  if (all === undefined || all.day !== day || all.places >= mostPlaces)
    known.set(caller, (all = { day, models: new Map(), places: 0 }))
  const place = all.models.get(model)?.get(backend)
  return place ?? addPlace(all, caller, model, backend)
}

const addPlace = (all: DayPlaces, caller: Caller, model: string, backend: string | null): Place => {
  const { organization, key, user, team, tags } = caller
  const place = {
    ...{ organization, key, user, day: all.day, model },
    ...(team !== undefined && { team }),
    ...(tags !== undefined && { tags }),
    ...(backend !== null && { backend }),
  }
  const ofModel = all.models.get(model) ?? new Map<string | null, Place>()
  all.models.set(model, ofModel.set(backend, place))
  all.places++
  return place
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
