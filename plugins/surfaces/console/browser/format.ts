const whole = new Intl.NumberFormat(undefined)
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const two = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 })
const money = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const smallMoney = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 })
const percents = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const clocks = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

export const count = (value: number): string => (value >= 1e6 ? short.format(value) : whole.format(value))
/** A number with its noun, such as `1 key` and `2 keys`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`
export const decimal = (value: number): string => two.format(value)
export const percent = (value: number): string => percents.format(value)

let currency: string | null = null

/** Names the currency of all costs; null where the gateway does not. */
export const costsIn = (code: string | null): void => void (currency = code)

/** `Cost` with its currency, for heads and names. */
export const costWords = (words = 'Cost'): string => (currency === null ? words : `${words}, ${currency}`)

/** A cost in the currency that its head names. */
export const cost = (value: number): string =>
  value !== 0 && Math.abs(value) < 0.01 ? smallMoney.format(value) : money.format(value)

/** The last moment of a date. A key may end later. */
const lastMs = 8_640_000_000_000_000
const dated = (at: number): number => Math.min(at, lastMs)

/** A moment in the reader's zone; `at` is Unix time in ms. */
export const moment = (at: number): string => moments.format(dated(at))
export const date = (at: number): string => dates.format(dated(at))
export const isoMoment = (at: number): string => new Date(dated(at)).toISOString()
export const clockTime = (at: number): string => clocks.format(at)
export const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

export const seconds = (value: number): string =>
  value < 1 ? `${whole.format(Math.round(value * 1000))} ms` : `${two.format(value)} s`

const day = 86_400_000

/** A day of UTC, as usage is counted; `ago` in days. */
export const utcDay = (now: number, ago = 0): string => new Date(now - ago * day).toISOString().slice(0, 10)

/** How far off a moment is, in the largest fitting unit. */
export const span = (ms: number): string => {
  const minutes = Math.max(1, Math.round(Math.abs(ms) / 60_000))
  if (minutes < 90) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`
}
