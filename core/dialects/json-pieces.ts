import { isAscii } from 'node:buffer'
import type { Pace } from './loop-time.ts'
import type { OrderedJson } from '../ports/upstream.ts'
import { type JsonScan, type Piece, backslash, comma, isSpace, longValue, malformed } from './json-scan.ts'
import { control, membersIn, parsed, readOrdered, twice } from './json.ts'

/** Objects of a `plain` value are objects; of an `ordered` one Maps, whose keys keep their order and stand once. */
export type Form = 'plain' | 'ordered'

/** Bytes of a long string that are decoded at once. */
const pieceBytes = 64 * 1024
/** Nanoseconds for a byte of a long string, and for a byte of a run, where the keys may all be new. */
const [stringNs, runNs] = [4, 60]

/** A long text on its way to a value. */
interface Reading {
  readonly scan: JsonScan
  readonly form: Form
  readonly pace: Pace
  /** Members of all objects that were made. */
  members: number
}

/**
 * The value of a scanned text, made of pieces that are short enough for one turn of the loop each: runs of short
 * neighbours are parsed together, long strings are decoded bit by bit, and long containers are put together.
 */
export const readInPieces = async (scan: JsonScan, form: Form, pace: Pace) => {
  const reading: Reading = { scan, form, pace, members: 0 }
  const value = await outermost(reading)
  return { value, members: reading.members }
}

const outermost = async (reading: Reading): Promise<unknown> => {
  const { bytes, begin, end } = reading.scan
  if (begin < 0) {
    // A number or a word alone.
    if (bytes.length > longValue) throw malformed()
    return shortValue(reading, bytes.toString('utf8'))
  }
  if (end < 0 || !onlySpace(reading, 0, begin)) throw malformed()
  return reading.scan.long?.has(begin) === true
    ? longAt(reading, begin)
    : shortValue(reading, bytes.toString('utf8', begin, end))
}

const shortValue = (reading: Reading, text: string): unknown => {
  if (reading.form === 'ordered') return readOrdered(text, Infinity)
  const value = parsed(text)
  reading.members += membersIn(value)
  return value
}

const longAt = async (reading: Reading, begin: number): Promise<unknown> => {
  const { bytes } = reading.scan
  const { end, pieces } = reading.scan.long?.get(begin) ?? { end: begin, pieces: [] }
  const open = bytes[begin]
  if (open === 0x22) return longString(reading, begin + 1, end - 1)
  // A bracket's end is two behind its beginning, and so is a brace's.
  if (bytes[end - 1] !== (open ?? 0) + 2) throw malformed()
  return open === 0x5b ? longArray(reading, pieces) : longObject(reading, pieces)
}

/** Where the content of a piece begins, behind its comma; -1 where nothing but space is left of a container. */
const contentOf = ({ scan: { bytes } }: Reading, { from, to }: Piece, isFirst: boolean): number => {
  let at = from
  while (at < to && isSpace(bytes[at])) at++
  if (at === to && !isFirst) return -1
  if (isFirst) return at
  if (bytes[at] !== comma) throw malformed()
  return at + 1
}

const runOf = async (reading: Reading, from: number, to: number): Promise<string> => {
  await reading.pace.spend(runNs * (to - from))
  return reading.scan.bytes.toString('utf8', from, to)
}

const longArray = async (reading: Reading, pieces: readonly Piece[]): Promise<unknown[]> => {
  const items: unknown[] = []
  for (const [at, piece] of pieces.entries()) {
    const from = contentOf(reading, piece, at === 0)
    if (from < 0) continue
    if (piece.value >= 0) {
      if (!onlySpace(reading, from, piece.value)) throw malformed()
      items.push(await longAt(reading, piece.value))
      continue
    }
    const run = shortValue(reading, `[${await runOf(reading, from, piece.to)}]`) as readonly unknown[]
    if (run.length === 0 && pieces.length > 1) throw malformed()
    for (const item of run) items.push(item)
  }
  return items
}

const longObject = async (reading: Reading, pieces: readonly Piece[]): Promise<object> => {
  const whole = reading.form === 'ordered' ? new Map<string, OrderedJson>() : {}
  for (const [at, piece] of pieces.entries()) {
    const from = contentOf(reading, piece, at === 0)
    if (from < 0) continue
    if (piece.value >= 0) {
      const [name = ''] = Object.keys(parsed(`{${reading.scan.bytes.toString('utf8', from, piece.value)}0}`) as object)
      put(whole, name, await longAt(reading, piece.value))
      reading.members++
      continue
    }
    const run = shortValue(reading, `{${await runOf(reading, from, piece.to)}}`) as Readonly<Record<string, unknown>>
    const names = run instanceof Map ? [...(run as Map<string, unknown>).keys()] : Object.keys(run)
    if (names.length === 0 && pieces.length > 1) throw malformed()
    for (const name of names) put(whole, name, run instanceof Map ? run.get(name) : run[name])
  }
  return whole
}

const onlySpace = ({ scan: { bytes } }: Reading, from: number, to: number): boolean =>
  bytes.subarray(from, to).every(isSpace)

const put = (whole: object, name: string, value: unknown): void => {
  if (whole instanceof Map) {
    if (whole.has(name)) twice(name)
    whole.set(name, value)
  } else if (name === '__proto__') {
    Object.defineProperty(whole, name, { value, writable: true, enumerable: true, configurable: true })
  } else (whole as Record<string, unknown>)[name] = value
}

const longString = async (reading: Reading, begin: number, end: number): Promise<string> => {
  const { bytes } = reading.scan
  const content = bytes.subarray(begin, end)
  if (isAscii(content) && !content.includes(backslash)) {
    for (let from = begin; from < end; from += pieceBytes) {
      await reading.pace.spend(stringNs * pieceBytes)
      if (control.test(bytes.toString('latin1', from, Math.min(end, from + pieceBytes)))) throw malformed()
    }
    // One copy: pieces and their sum would stand in memory beside each other.
    return content.toString('latin1')
  }
  const parts: string[] = []
  for (let from = begin; from < end;) {
    const to = pieceEnd(bytes, from, Math.min(end, from + pieceBytes), end)
    await reading.pace.spend(stringNs * (to - from))
    parts.push(parsed(`"${bytes.toString('utf8', from, to)}"`) as string)
    from = to
  }
  return parts.join('')
}

/** The last place up to `wish` where a string may be cut: inside of no escape and of no character. */
const pieceEnd = (bytes: Buffer, from: number, wish: number, end: number): number => {
  if (wish === end) return end
  for (let at = wish - 1; at >= wish - 6 && at > from; at--) {
    if (bytes[at] !== backslash) continue
    let first = at
    while (first > from && bytes[first - 1] === backslash) first--
    // An even count of backslashes stands for themselves.
    if ((at - first) % 2 === 0) return at
    break
  }
  let to = wish
  while (((bytes[to] ?? 0) & 0xc0) === 0x80) to--
  return to
}
