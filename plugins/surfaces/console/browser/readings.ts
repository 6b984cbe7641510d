import { type Backend, backendsOf } from './backends.ts'
import type { Gateway } from './gateway.ts'
import { samplesOf } from './prometheus.ts'
import { type Reading, type Traffic, trafficOf } from './traffic.ts'

export interface Measured {
  readonly now: Reading
  /** Of the last minute; null until there are two readings. */
  readonly traffic: Traffic | null
  readonly backends: readonly Backend[]
  /** At the beginning of that minute; empty without a second reading. */
  readonly earlier: readonly Backend[]
}

/** What is shown is of so many ms. */
const minute = 60_000
/** Readings closer than this tell too little of each other; in ms. */
const leastMsApart = 1_000

/** Reads the measurements, and remembers those of the last minute for as long as the tab is open. */
const readingsOf = () => {
  let past: readonly Reading[] = []
  return async (gateway: Gateway): Promise<Measured> => {
    const now = { at: Date.now(), samples: samplesOf(await gateway.text('/metrics')) }
    // The last one is kept however old it is: a tab that nobody looks at reads nothing.
    past = past.filter(({ at }, place) => now.at - at <= minute || place === past.length - 1)
    const before = past.find(({ at }) => now.at - at >= leastMsApart) ?? null
    past = [...past, now]
    const earlier = before === null ? [] : backendsOf(before.samples)
    return { now, traffic: before && trafficOf(now, before), backends: backendsOf(now.samples), earlier }
  }
}

export const readings = readingsOf()
