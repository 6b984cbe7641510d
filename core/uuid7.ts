import type { Clock, Random } from './ports/platform.ts'

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The last id of each clock: its time with its text, and its place among those of one millisecond. */
const lasts = new WeakMap<Clock, { time: number; text: string; place: number }>()

/** Digits of the low bytes come from the table: a number beyond 32 bits and a pattern cost more than the rest of an id. */
const timeText = (time: number): string =>
  `${Math.floor(time / 0x10000)
    .toString(16)
    .padStart(8, '0')}-${hex[(time >> 8) & 0xff]}${hex[time & 0xff]}`

/**
 * Ids of one process in one millisecond: 12 bits, `rand_a` of RFC 9562. Beyond them the id borrows the next
 * millisecond.
 */
const places = 0x1000

/** Version 7: sorts by time, and those of one process in the order they were made, also within a millisecond. */
export const uuid7 = (clock: Clock, random: Random): string => {
  const now = clock.now()
  const bytes = random.bytes(10)
  let last = lasts.get(clock)
  if (!last) lasts.set(clock, (last = { time: -1, text: '', place: 0 }))
  if (now > last.time) {
    last.time = now
    last.text = timeText(now)
    last.place = (((bytes[0] ?? 0) & 0x07) << 8) | (bytes[1] ?? 0)
  } else if (++last.place === places) {
    last.text = timeText(++last.time)
    last.place = 0
  }
  bytes[0] = 0x70 | (last.place >> 8)
  bytes[1] = last.place & 0xff
  bytes[2] = ((bytes[2] ?? 0) & 0x3f) | 0x80
  let tail = ''
  for (const byte of bytes) tail += hex[byte]
  return `${last.text}-${tail.slice(0, 4)}-${tail.slice(4, 8)}-${tail.slice(8)}`
}
