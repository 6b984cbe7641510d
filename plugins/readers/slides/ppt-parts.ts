import { Unreadable } from '../../../core/errors.ts'
import { kinds } from './ppt-records.ts'

/** The number of saves that a file may remember. */
const mostEdits = 1_000

/** The parts of a presentation as it was last saved. A file keeps what earlier saves wrote. */
export const savedParts = (stream: Buffer, lastEdit: number) => {
  const places = new Map<number, number>()
  let document = -1
  let edit = lastEdit
  for (let left = mostEdits; edit !== 0 && left > 0; left--) {
    const data = recordAt(stream, edit, kinds.userEdit)
    if (data.length < 20) throw new Unreadable()
    if (document < 0) document = data.readUInt32LE(16)
    rememberPlaces(places, recordAt(stream, data.readUInt32LE(12), kinds.places))
    const before = data.readUInt32LE(8)
    if (before >= edit) break
    edit = before
  }
  const partAt = (number: number): Buffer => {
    const at = places.get(number)
    return at === undefined ? stream.subarray(0, 0) : recordAt(stream, at, null)
  }
  return { document: partAt(document), partAt }
}

/** Each run of places says the number of its first part and how many there are; the newest save counts. */
const rememberPlaces = (places: Map<number, number>, runs: Buffer): void => {
  for (let at = 0; at + 4 <= runs.length;) {
    const head = runs.readUInt32LE(at)
    at += 4
    for (let number = head & 0xfffff, left = head >>> 20; left > 0 && at + 4 <= runs.length; number++, left--, at += 4)
      if (!places.has(number)) places.set(number, runs.readUInt32LE(at))
  }
}

/** The content of a record. Throws Unreadable when none of this kind stands there; null takes any kind. */
const recordAt = (stream: Buffer, at: number, kind: number | null): Buffer => {
  if (at + 8 > stream.length) throw new Unreadable()
  if (kind !== null && stream.readUInt16LE(at + 2) !== kind) throw new Unreadable()
  return stream.subarray(at + 8, at + 8 + stream.readUInt32LE(at + 4))
}
