import { type Backend, backendsOf } from './backends.ts'
import type { Gateway } from './gateway.ts'
import { samplesOf } from './prometheus.ts'
import { type Reading, type Traffic, trafficOf } from './traffic.ts'

export interface Measured {
  readonly now: Reading
  /** Null until there are two readings. */
  readonly traffic: Traffic | null
  readonly backends: readonly Backend[]
  /** Of the reading before; empty without one. */
  readonly earlier: readonly Backend[]
}

/** Readings closer than this tell too little of each other; in ms. */
const apart = 1_000

/** Reads the measurements, and remembers the reading before for as long as the tab is open. */
export const readingsOf = () => {
  let before: Reading | null = null
  let last: Reading | null = null
  return async (gateway: Gateway): Promise<Measured> => {
    const samples = samplesOf(await gateway.text('/metrics'))
    const now = { at: Date.now(), samples }
    if (last === null || now.at - last.at >= apart) [before, last] = [last, now]
    const earlier = before === null ? [] : backendsOf(before.samples)
    return { now, traffic: before && trafficOf(now, before), backends: backendsOf(samples), earlier }
  }
}

export const readings = readingsOf()
