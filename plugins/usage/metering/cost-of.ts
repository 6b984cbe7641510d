import type { Consumption } from '../../../core/inference/metering/consumption.ts'
import type { Price } from '../../shared/prices.ts'

/** Circumstances that change a price. A null region and an absent one take the plain price. */
export interface PriceTerms {
  /** Without a factor of this name the price is unknown. */
  readonly terms?: string | undefined
  readonly region?: string | null
}

type Part = readonly [amount: number | undefined, price: number | undefined]

/** Millionths of the currency, exact to a thousandth of one; null where a price that the call needs is unknown. */
export const costOf = (price: Price, used: Consumption, { terms, region = null }: PriceTerms = {}): number | null => {
  const { long } = price
  const { calls = 1 } = used
  const prices = long !== undefined && used.input > long.above * Math.max(1, calls) ? long : price
  let cost = (prices.request ?? price.request ?? 0) * calls
  for (const [amount = 0, each] of partsOf(prices, used)) {
    if (amount === 0) continue
    if (each === undefined) return null
    cost += amount * each
  }
  const ofRegion = (region === null ? undefined : price.regions?.[region]) ?? 1
  const ofTerms = terms === undefined ? 1 : price.terms?.[terms]
  return ofTerms === undefined ? null : Math.round(cost * ofRegion * ofTerms * 1e3) / 1e3
}

const partsOf = (price: Price, used: Consumption): readonly Part[] => {
  const { characters, images, seconds, audioInput = 0, audioOutput = 0, reasoning = 0 } = used
  const { cached = 0, written = 0, writtenHour = 0 } = used
  const made: readonly Part[] = [
    [characters, price.character],
    [images, price.image],
    [seconds, price.second],
  ]
  // What is spoken or drawn is charged by its characters and images or by its tokens, never by both.
  if (characters !== undefined && price.character !== undefined) return made
  if (images !== undefined && price.image !== undefined) return made
  // Some servers tell parts beyond the whole, and a bill is never below zero.
  const plainInput = Math.max(0, used.input - cached - written - writtenHour - audioInput)
  const plainOutput = Math.max(0, used.output - reasoning - audioOutput)
  return [
    [seconds, price.second],
    // Tokens that are our guess leave out those of the images.
    [used.estimated === true ? images : 0, price.image],
    [plainInput, price.input],
    [cached, price.cached],
    [written, price.written],
    [writtenHour, price.writtenHour],
    [audioInput, price.audioInput],
    [plainOutput, price.output],
    [reasoning, price.reasoning ?? price.output],
    [audioOutput, price.audioOutput],
  ]
}
