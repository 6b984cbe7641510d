import { plugin } from '../../../core/plugin.ts'
import { PriceList } from '../../shared/prices.ts'
import { shippedPrice } from './shipped-prices.ts'

/** The prices that ship with this package. */
export const shippedList = plugin({
  port: PriceList,
  name: 'shipped',
  create: (): PriceList => ({ price: (vendor, model) => shippedPrice(vendor, model) }),
})
