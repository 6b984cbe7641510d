import { BadRequest } from '../../core/errors.ts'
import { keptText } from '../../core/dialects/json-text.ts'
import { readOrdered } from '../../core/dialects/json.ts'
import { LongNumber } from '../../core/ports/decide.ts'
import type { OrderedJson } from '../../core/ports/upstream.ts'

/** Digits that may be more than a number of JavaScript holds, first in any place, then where a number begins. */
const long = /\d{16}/
const longNumber = /[:[,]\s*-?\d{16}/

/** Elements of a text that is read a second time. In a longer one long numbers are rounded. */
const mostElements = 8_192

/** By list or object: the same with every digit. A changed copy has none. */
const twins = new WeakMap<object, OrderedJson>()

/** Remembers the parts of a parsed value whose numbers JavaScript rounds. */
export const keepDigits = (value: unknown, text: string): void => {
  if (!long.test(text) || !longNumber.test(text)) return
  try {
    pair(value, readOrdered(text, mostElements, false))
  } catch (error) {
    // A text beyond the bounds keeps rounded numbers.
    if (!(error instanceof BadRequest)) throw error
  }
}

/** Whether the twin holds a long number. */
const pair = (value: unknown, twin: OrderedJson): boolean => {
  if (twin instanceof LongNumber) return true
  if (typeof value !== 'object' || value === null || typeof twin !== 'object' || twin === null) return false
  let differs = false
  const members = twin instanceof Map ? twin : (twin as readonly OrderedJson[]).entries()
  for (const [name, member] of members) if (pair(value[name as keyof typeof value], member)) differs = true
  if (differs) twins.set(value, twin)
  return differs
}

/** The value with every digit, for `print` alone. */
export const exact = <T>(value: T): T | OrderedJson =>
  typeof value === 'object' && value !== null ? (twins.get(value) ?? value) : value

/** The least number with so many digits. */
const leastLong = 1e15

const holdsLong = (value: unknown): boolean => {
  if (typeof value === 'number') return Math.abs(value) >= leastLong
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(holdsLong)
  for (const name in value) if (holdsLong(value[name as keyof typeof value])) return true
  return false
}

/**
 * The same for a member of a request, whose text is known where it goes on as it came. Few requests hold a long number, and
 * the text of the others is never made.
 */
export const keepWording = (value: unknown): void => {
  const text = holdsLong(value) ? keptText(value) : undefined
  if (text !== undefined) keepDigits(value, text)
}
