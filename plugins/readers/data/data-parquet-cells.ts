import { exact } from '../shared/content-cutter.ts'

/** What a file says of a column, as far as it changes the text of a value. */
interface Said {
  readonly logical_type?: {
    readonly type: string
    readonly isAdjustedToUTC?: boolean
    readonly unit?: 'MILLIS' | 'MICROS' | 'NANOS'
  }
  readonly converted_type?: string
  /** The digits after the point of a decimal. */
  readonly scale?: number
}

/** Dates and times as text: JavaScript's dates are too coarse for the values in a file. */
export const parsers = {
  dateFromDays: (days: number) => momentOf(BigInt(days) * 86_400_000_000_000n).slice(0, 10),
  timestampFromMilliseconds: (count: bigint) => momentOf(count * 1_000_000n),
  timestampFromMicroseconds: (count: bigint) => momentOf(count * 1000n),
  timestampFromNanoseconds: (count: bigint) => momentOf(count),
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && textOf(bytes),
}

/** Formats the values of a column where the library's own form would lose something. */
export const cellFormatter = ({ logical_type: logical, converted_type: converted, scale = 0 }: Said) => {
  if (converted === 'DECIMAL') return unlessNull((value) => decimalOf(value, scale))
  if (logical?.type === 'TIMESTAMP' && !logical.isAdjustedToUTC)
    return unlessNull((value) => String(value).replace(/Z$/, ''))
  if (logical?.type === 'TIME' && logical.unit !== undefined) {
    const unit = { MILLIS: 1_000_000n, MICROS: 1000n, NANOS: 1n }[logical.unit]
    return unlessNull((value) => momentOf(BigInt(value as number | bigint) * unit).slice(11, -1))
  }
  return unlessNull((value) => (value instanceof Uint8Array ? (textOf(value) ?? value) : value))
}

const unlessNull =
  (say: (value: unknown) => unknown) =>
  (value: unknown): unknown =>
    value === null || value === undefined ? null : say(value)

/** ISO 8601 in UTC; a moment outside of JavaScript's dates stays a number of nanoseconds. */
const momentOf = (nanoseconds: bigint): string => {
  const second = 1_000_000_000n
  const part = ((nanoseconds % second) + second) % second
  const moment = new Date(Number((nanoseconds - part) / 1_000_000n))
  if (Number.isNaN(moment.getTime())) return nanoseconds.toString()
  const fraction = part === 0n ? '' : `.${part.toString().padStart(9, '0').replace(/0+$/, '')}`
  return moment.toISOString().replace('.000Z', `${fraction}Z`)
}

/** Null when the bytes are not UTF-8. */
const textOf = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** A decimal of more than 15 digits becomes text, so that no digit is lost. */
const decimalOf = (value: unknown, scale: number): number | string => {
  const whole = value instanceof Uint8Array ? signed(value) : BigInt(value as number | bigint)
  if (scale <= 0) return exact(whole * 10n ** BigInt(-scale))
  const digits = (whole < 0n ? -whole : whole).toString().padStart(scale + 1, '0')
  const text = `${whole < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
  return digits.length > 15 ? text : Number(text)
}

/** Two's complement, big-endian, of any length. */
const signed = (bytes: Uint8Array): bigint =>
  bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
