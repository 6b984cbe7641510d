import { isUtf8 } from 'node:buffer'
import { BadRequest } from '../errors.ts'
import { type Pace, freePace } from './loop-time.ts'
import { type JsonBounds, JsonScan, usualBounds } from './json-scan.ts'
import { type Form, readInPieces } from './json-pieces.ts'
import { type MemberTexts, memberTexts } from './json-text.ts'
import { membersIn, parsed, readOrdered, twice } from './json.ts'

/** What a `relayed` text is read to. */
export interface Relayed {
  readonly value: unknown
  /** Null where the value has to be printed anew. */
  readonly members: MemberTexts | null
}

/** Bytes of a text that is read in one turn of the loop, unless its elements are dear. */
const atOnceBytes = 128 * 1024
/** Bytes of a text that are looked over at once; of a dear text, every third is an element. */
const scanBytes = 16 * 1024
/** Nanoseconds of reading that one turn of the loop does. */
const atOnceNs = 2_000_000
/** Bytes of a text whose members go on as they came; a longer one is printed anew. */
const relayedBytes = 1024 * 1024

/** Nanoseconds that reading, checking and estimating take on the main loop; a steady measure, not a clock. */
const costOf = ({ bytes, elements, members }: JsonScan): number => 2 * bytes.length + 500 * elements + 1_000 * members

/**
 * The value of a JSON text, in time and memory that its length bounds; what is dear is done in turns of the loop and
 * booked to the holder of the pace. `relayed` gives `Relayed`. Throws BadRequest for anything but UTF-8 JSON within the
 * bounds.
 */
export const readJson = (
  bytes: Buffer,
  form: Form | 'relayed',
  bounds: JsonBounds = usualBounds,
  pace: Pace = freePace(),
): unknown => {
  if (!isUtf8(bytes)) throw new BadRequest('The body is not UTF-8')
  const scan = new JsonScan(bytes, bounds)
  if (bytes.length > atOnceBytes || !isScannedAtOnce(scan)) return readInTurns(scan, form, pace)
  const turn = pace.spend(costOf(scan))
  return turn === null ? readNow(scan, form) : turn.then(() => readScanned(scan, form, pace))
}

/** Looks over a text as far as one turn of the loop may; false for a text whose elements are dear. */
const isScannedAtOnce = (scan: JsonScan): boolean => {
  while (scan.at < scan.bytes.length && costOf(scan) <= atOnceNs) scan.read(scan.at + scanBytes)
  return costOf(scan) <= atOnceNs
}

/** A text that is read in one turn of the loop. Null for a longer one, and for a text that `readJson` refuses by its bounds. */
export const scanAtOnce = (bytes: Buffer, bounds: JsonBounds, pace: Pace): JsonScan | null => {
  if (bytes.length > atOnceBytes || !isUtf8(bytes)) return null
  try {
    const scan = new JsonScan(bytes, bounds)
    return isScannedAtOnce(scan) && pace.spend(costOf(scan)) === null ? scan : null
  } catch (fault) {
    if (fault instanceof BadRequest) return null
    throw fault
  }
}

/** JSON of any string; of equal keys the last one counts. */
export const readPlain = (text: string, bounds: JsonBounds = usualBounds): unknown => {
  const bytes = Buffer.from(text)
  const scan = new JsonScan(bytes, bounds)
  scan.read(bytes.length)
  return parsed(text)
}

const readNow = (scan: JsonScan, form: Form | 'relayed'): unknown => {
  const text = scan.bytes.toString('utf8')
  if (form === 'ordered') return readOrdered(text, scan.bounds.elements)
  const value = parsed(text)
  if (form === 'plain') return value
  return { value, members: memberTexts(scan, value, membersIn(value), twice) } satisfies Relayed
}

/** Looks over the rest of a text, in turns of the loop. */
export const scanInTurns = async (scan: JsonScan, pace: Pace): Promise<void> => {
  while (scan.at < scan.bytes.length) {
    const { at, elements, members } = scan
    scan.read(at + scanBytes)
    await pace.spend(2 * (scan.at - at) + 100 * (scan.elements - elements) + 100 * (scan.members - members))
  }
}

const readInTurns = async (scan: JsonScan, form: Form | 'relayed', pace: Pace): Promise<unknown> => {
  await scanInTurns(scan, pace)
  await pace.spend(costOf(scan))
  return readScanned(scan, form, pace)
}

/** The value of a text whose cost is booked, in turns of the loop. */
const readScanned = async (scan: JsonScan, form: Form | 'relayed', pace: Pace): Promise<unknown> => {
  const { value, members } = await readInPieces(scan, form === 'ordered' ? 'ordered' : 'plain', pace)
  if (form !== 'relayed') return value
  // The texts of a long body would stand in memory beside its values.
  if (scan.bytes.length > relayedBytes) return { value, members: null } satisfies Relayed
  await pace.spend(scan.bytes.length)
  return { value, members: memberTexts(scan, value, members, twice) } satisfies Relayed
}
