import type { Caller } from '../../../core/access/caller.ts'
import type { Place } from '../../../core/ports/ledger.ts'
import type { BilledModel } from '../../../core/inference/metering/meter.ts'

/** The places of a caller on one day: its calls have one of a few. */
interface DayPlaces {
  readonly day: string
  readonly places: Map<string, Place>
}
const known = new WeakMap<Caller, DayPlaces>()
/** Places that are remembered for one caller. */
const mostPlaces = 256

/** Where the call is counted: on the UTC day of this moment, and under `unknown` while its model is sealed. */
export const placeOf = (caller: Caller, billed: BilledModel | null, now: number, backend: string | null): Place => {
  const day = dayOf(now)
  const model = billed?.name ?? 'unknown'
  let all = known.get(caller)
  if (all === undefined || all.day !== day || all.places.size >= mostPlaces)
    known.set(caller, (all = { day, places: new Map() }))
  const name = backend === null ? model : `${backend}\n${model}`
  let place = all.places.get(name)
  if (place === undefined) {
    const { organization, key, user, team, tags } = caller
    place = {
      ...{ organization, key, user, day, model },
      ...(team !== undefined && { team }),
      ...(tags !== undefined && { tags }),
      ...(backend !== null && { backend }),
    }
    all.places.set(name, place)
  }
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
