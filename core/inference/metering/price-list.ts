import { many } from '../../container.ts'
import type { Price } from './price.ts'

/** Prices of models in US dollars, for models without a configured price. */
export interface PriceList {
  /** Null for an unknown model. An upstream names its `vendor`. */
  price(vendor: string, model: string): Price | null
}

export const PriceList = many<PriceList>('PriceList')
