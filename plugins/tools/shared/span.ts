import * as v from 'valibot'
import { BadRequest } from '../../../core/errors.ts'

const place = (meaning: string) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000), v.description(meaning)))

/** The parameters that choose a stretch of a file. */
export const spanOf = (unit: string) => ({
  from: place(`The first ${unit} that is read, from 1`),
  to: place(`The last ${unit} that is read`),
})

/** Throws BadRequest for a stretch that ends before it begins. */
export const checkSpan = (message: string, from: number, to: number | undefined): void => {
  if (to !== undefined && to < from) throw new BadRequest(message, { validator: { to: 'Expected from or more' } })
}
