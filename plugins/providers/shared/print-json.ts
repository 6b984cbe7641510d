import { setImmediate as nextTurn } from 'node:timers/promises'
import { gatheredBytes } from '../../../core/gathered-bytes.ts'
import { keptText, printKept } from '../../../core/dialects/json-text.ts'

/** Characters of a value that are printed in one turn of the loop; a longer one would stall every other call. */
const oneTurnLength = 1024 * 1024

/** Characters of a text that are escaped at once. */
const piece = 64 * 1024

/** JSON of a request body: a text where it is short, else bytes that are made in many turns of the loop. */
export const printJson = (value: unknown): string | Promise<Uint8Array> => printNow(value) ?? printInTurns(value)

/** The same at once; null for a value that takes many turns of the loop. */
export const printNow = (value: unknown): string | null =>
  lengthOf(value, oneTurnLength) <= oneTurnLength ? printKept(value) : null

/** Characters of all texts in a value; more than `most` is not counted on. */
const lengthOf = (value: unknown, most: number): number => {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  const text = keptText(value)
  if (text !== undefined) return text.length
  let length = 0
  const add = (member: unknown, name: string): boolean =>
    (length += name.length + lengthOf(member, most - length)) > most
  // Names of a list's items would cost more than the items.
  if (Array.isArray(value)) for (const item of value) if (add(item, ',')) break
  if (!Array.isArray(value)) for (const name in value) if (add(value[name as keyof typeof value], name)) break
  return length
}

const printInTurns = async (value: unknown): Promise<Uint8Array> => {
  // Most texts need few escapes: then one piece of memory takes all of it.
  const bytes = gatheredBytes(Math.ceil(1.05 * lengthOf(value, Infinity)) + oneTurnLength)
  let text = ''
  for (const printedPiece of printed(value)) {
    text += printedPiece
    if (text.length < piece) continue
    bytes.add(Buffer.from(text))
    text = ''
    await nextTurn()
  }
  bytes.add(Buffer.from(text))
  return bytes.whole()
}

/** The value's JSON in pieces. */
function* printed(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > piece) yield* printedText(value)
  else if (typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null'
  else if (keptText(value) !== undefined) yield keptText(value)!
  else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      yield at === 0 ? '[' : ','
      yield* printed(item)
    }
    yield value.length === 0 ? '[]' : ']'
  } else {
    let mark = '{'
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      yield `${mark}${JSON.stringify(name)}:`
      yield* printed(member)
      mark = ','
    }
    yield mark === '{' ? '{}' : '}'
  }
}

function* printedText(text: string): Generator<string> {
  yield '"'
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = Math.min(at + piece, text.length)
    // A pair of surrogates is printed whole: half of one would be escaped.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1
    yield JSON.stringify(text.slice(at, end)).slice(1, -1)
  }
  yield '"'
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
