import type { Clock, Random } from './ports/platform.ts'

/** The last id of each clock: its time, and its place among those of one millisecond. */
const lasts = new WeakMap<Clock, { time: number; place: number }>()

/** Ids of one process in one millisecond: 12 bits, `rand_a` of RFC 9562. Beyond them the id borrows the next millisecond. */
const places = 0x1000

/** The bytes and the text of the id that is made: a text in pieces leaves ten strings behind. */
const id = Buffer.alloc(16)
const text = Buffer.from('00000000-0000-0000-0000-000000000000')
/** Where the digits of each byte stand. */
const spots = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const digits = Buffer.from('0123456789abcdef')

/** Version 7: sorts by time, and those of one process in the order they were made, also within a millisecond. */
export const uuid7 = (clock: Clock, random: Random): string => {
  const now = clock.now()
  id.set(random.bytes(10), 6)
  let last = lasts.get(clock)
  if (!last) lasts.set(clock, (last = { time: -1, place: 0 }))
  if (now > last.time) {
    last.time = now
    last.place = ((id[6]! & 0x07) << 8) | id[7]!
  } else if (++last.place === places) {
    last.time++
    last.place = 0
  }
  id.writeUIntBE(last.time, 0, 6)
  id[6] = 0x70 | (last.place >> 8)
  id[7] = last.place
  id[8] = (id[8]! & 0x3f) | 0x80
  for (let at = 0; at < id.length; at++) {
    const [spot, byte] = [spots[at]!, id[at]!]
    text[spot] = digits[byte >> 4]!
    text[spot + 1] = digits[byte & 0xf]!
  }
  return text.toString('latin1')
}
