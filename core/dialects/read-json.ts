import { isUtf8 } from 'node:buffer'
import { BadRequest } from '../errors.ts'
import { type Pace, freePace } from './loop-time.ts'
import { type JsonBounds, JsonScan, usualBounds } from './json-scan.ts'
import { type Form, membersIn, parsed, readInPieces } from './json-pieces.ts'
import { type MemberTexts, memberTexts } from './json-text.ts'
import { readOrdered, twice } from './json.ts'

/** What a `relayed` text is read to. */
export interface Relayed {
  readonly value: unknown
  /** Null where the value has to be printed anew. */
  readonly members: MemberTexts | null
}

/** Bytes of a text that is read in one turn of the loop, unless its elements are dear. */
const atOnceBytes = 128 * 1024
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
  if (bytes.length > atOnceBytes) return readInTurns(scan, form, pace)
  scan.read(bytes.length)
  const ns = costOf(scan)
  if (ns > atOnceNs) return readInTurns(scan, form, pace)
  const turn = pace.spend(ns)
  return turn === null ? readNow(scan, form) : turn.then(() => readNow(scan, form))
}

/** A short JSON, read in one turn of the loop. */
export interface ReadText {
  readonly bytes: Buffer
  readonly text: string
  readonly value: unknown
  /** As `Relayed` has them. Throws BadRequest for a member that stands twice in the outermost object. */
  members(): MemberTexts | null
}

/** Null for a text that takes turns of the loop, and for a text that `readJson` refuses. */
export const readAtOnce = (bytes: Buffer, bounds: JsonBounds, pace: Pace): ReadText | null => {
  if (bytes.length > atOnceBytes || !isUtf8(bytes)) return null
  try {
    const scan = new JsonScan(bytes, bounds)
    scan.read(bytes.length)
    const ns = costOf(scan)
    if (ns > atOnceNs || pace.spend(ns) !== null) return null
    const text = bytes.toString('utf8')
    const value = parsed(text)
    return { bytes, text, value, members: () => memberTexts(scan, value, membersIn(value), twice) }
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

const readInTurns = async (scan: JsonScan, form: Form | 'relayed', pace: Pace): Promise<unknown> => {
  const { bytes } = scan
  for (let stop = 0; scan.at < bytes.length;) {
    const [elements, members] = [scan.elements, scan.members]
    scan.read((stop += atOnceBytes))
    await pace.spend(2 * atOnceBytes + 100 * (scan.elements - elements) + 100 * (scan.members - members))
  }
  await pace.spend(costOf(scan))
  const { value, members } = await readInPieces(scan, form === 'ordered' ? 'ordered' : 'plain', pace)
  if (form !== 'relayed') return value
  // The texts of a long body would stand in memory beside its values.
  const kept = bytes.length > relayedBytes ? null : memberTexts(scan, value, members, twice)
  return { value, members: kept } satisfies Relayed
}
