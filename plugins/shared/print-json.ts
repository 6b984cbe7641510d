import { print } from '../../core/dialects/json.ts'
import { gatheredBytes } from '../../core/gathered-bytes.ts'
import { freeTurn } from '../../core/dialects/loop-time.ts'
import { keptText, printKept } from '../../core/dialects/json-text.ts'
import { piecesOf } from './guards/texts.ts'
import { type LongTexts, noTexts, printAround } from './long-texts.ts'

/** What printing in one turn of the loop may cost; more would stall every other call. A character costs 1, about a nanosecond. */
const oneTurnCost = 1024 * 1024
/** What a member costs beside its characters. */
const memberCost = 128

/** What one turn of the loop prints of a longer value. */
const atOnceCost = 128 * 1024

/** Characters of a text that are escaped at once. */
const piece = 64 * 1024

/** Members that are looked at for the length of a value. */
const mostCounted = 1_024

/** JSON of a request body: a text where it is short, else bytes that are made in many turns of the loop. */
export const printJson = (value: unknown): string | Uint8Array | Promise<Uint8Array> =>
  printNow(value) ?? printInTurns(value)

/** The same at once, with long texts as the caller wrote them; null for a value that takes many turns of the loop. */
export const printNow = (value: unknown, texts: LongTexts = noTexts): string | Buffer | null => {
  if (costOf(value, oneTurnCost) > oneTurnCost) return null
  return texts.size === 0 ? printKept(value) : printAround(value, texts)
}

/** The same for a value of any length, whose dear parts were printed before. */
export const printAgain = (value: unknown): string => {
  let text = ''
  for (const printedPiece of printed({ cost: 0 }, value)) text += printedPiece
  return text
}

/** Characters of all texts in a value, and so much for each member; more than `most` is not counted on. Maps are printed apart. */
const costOf = (value: unknown, most: number): number => {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  const text = keptText(value)
  if (text !== undefined) return text.length
  if (value instanceof Map) return Infinity
  let cost = 0
  // Names of a list's items would cost more than the items.
  if (Array.isArray(value))
    for (let at = 0; at < value.length && cost <= most; at++) cost += 1 + memberCost + costOf(value[at], most - cost)
  else
    for (const name in value) {
      cost += name.length + memberCost + costOf(value[name as keyof typeof value], most - cost)
      if (cost > most) break
    }
  return cost
}

/** Characters of the texts among the first members of a value: long texts are few. */
const textsIn = (value: unknown): number => {
  let left = mostCounted
  const sum = (part: unknown): number => {
    if (typeof part === 'string') return part.length
    if (typeof part !== 'object' || part === null) return 0
    let length = keptText(part)?.length ?? 0
    if (length > 0) return length
    for (const member of Array.isArray(part) ? part : Object.values(part)) {
      if (left-- <= 0) break
      length += sum(member)
    }
    return length
  }
  return sum(value)
}

/** A long value on its way to its JSON. */
interface Printing {
  /** What this turn of the loop has cost. */
  cost: number
}

const printInTurns = async (value: unknown): Promise<Uint8Array> => {
  await freeTurn()
  const bytes = gatheredBytes(Math.ceil(1.05 * textsIn(value)) + 4 * atOnceCost)
  const printing: Printing = { cost: 0 }
  await freeTurn()
  let text = ''
  for (const printedPiece of printed(printing, value)) {
    text += printedPiece
    if (printing.cost < atOnceCost && text.length < piece) continue
    bytes.add(Buffer.from(text))
    text = ''
    printing.cost = 0
    await freeTurn()
  }
  bytes.add(Buffer.from(text))
  return bytes.whole()
}

/** Whether a value is printed at once. The look at it costs as much as its JSON. */
const isShort = (printing: Printing, value: unknown): boolean => {
  const cost = costOf(value, atOnceCost)
  printing.cost += Math.min(cost, atOnceCost)
  return cost <= atOnceCost
}

/** Whether a value has its own wording, as dates have. No JSON of a caller holds a function. */
const printsItself = (value: object): boolean => 'toJSON' in value && typeof value.toJSON === 'function'

/** The value's JSON in pieces. */
function* printed(printing: Printing, value: unknown): Generator<string> {
  if (isLongText(value)) yield* printedText(value)
  else if (typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null'
  else if (keptText(value) !== undefined) yield keptText(value)!
  else if (value instanceof Map) yield print(value)
  else if (printsItself(value) || isShort(printing, value)) yield printKept(value)
  else if (Array.isArray(value)) yield* printedList(printing, value)
  else yield* printedMembers(printing, value)
}

/** Short neighbours are printed together. The names are listed once: a list of thousands takes the system half a millisecond. */
function* printedMembers(printing: Printing, value: object): Generator<string> {
  let [text, mark] = ['', '{']
  for (const name of Object.keys(value)) {
    const member: unknown = value[name as keyof typeof value]
    if (member === undefined || typeof member === 'function') continue
    text += `${mark}${JSON.stringify(name)}:`
    mark = ','
    printing.cost += memberCost
    if (typeof member !== 'object' && !isLongText(member)) text += JSON.stringify(member)
    else {
      yield text
      text = ''
      yield* printed(printing, member)
    }
    if (printing.cost < atOnceCost && text.length < piece) continue
    yield text
    text = ''
  }
  yield mark === '{' ? '{}' : `${text}}`
}

const isLongText = (value: unknown): value is string => typeof value === 'string' && value.length > piece

function* printedList(printing: Printing, list: readonly unknown[]): Generator<string> {
  for (let at = 0; at < list.length;) {
    yield at === 0 ? '[' : ','
    const run = runOf(printing, list, at)
    if (run === 0) yield* printed(printing, list[at++])
    else yield JSON.stringify(list.slice(at, (at += run))).slice(1, -1)
  }
  yield list.length === 0 ? '[]' : ']'
}

/** How many items of a list are printed together from this one on; 0 for an item that is too dear. */
const runOf = (printing: Printing, list: readonly unknown[], from: number): number => {
  let cost = 0
  let at = from
  for (; at < list.length; at++) {
    cost += memberCost + costOf(list[at], atOnceCost - cost)
    if (cost > atOnceCost) break
  }
  printing.cost += Math.min(cost, atOnceCost)
  return at - from
}

function* printedText(text: string): Generator<string> {
  yield '"'
  // Half of a pair of surrogates would be escaped.
  for (const part of piecesOf(text, piece)) yield JSON.stringify(part).slice(1, -1)
  yield '"'
}
