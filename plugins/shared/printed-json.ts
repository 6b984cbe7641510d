import { randomBytes } from 'node:crypto'
import { keptText } from '../../core/dialects/json-text.ts'

/** Characters of a text that goes into the bytes by itself: printed among others, it is copied three times. */
const longText = 512

/** What JSON writes in another way. */
const escapes = /["\\\u0000-\u001f\p{Surrogate}]/u

/** Stands in JSON for what goes into the bytes by itself. It is random, so no text of a caller or a backend is the same. */
const mark = randomBytes(18).toString('base64url')

/** A part of a value that goes into the bytes by itself, so that nothing around it is copied to mark it. */
export class Apart {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }

  toJSON(): string {
    return mark
  }
}

interface Marked {
  readonly pieces: readonly string[]
  /** Quotes of the mark that the pieces replace too. */
  readonly quotes: 0 | 1
}

/** The JSON of a value as bytes; lists and objects that came in a text are printed as they came. */
export const printedBytes = (value: unknown): Buffer => {
  const pieces = piecesOf(value)
  let length = 0
  for (const piece of pieces) length += Buffer.byteLength(piece)
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (const piece of pieces) at += bytes.write(piece, at)
  return bytes
}

/** The same as a text. */
export const printedJson = (value: unknown): string => piecesOf(value).join('')

const piecesOf = (value: unknown): readonly string[] => {
  const apart: Marked[] = []
  const json = JSON.stringify(marked(value, apart))
  const pieces: string[] = []
  let from = 0
  for (const { pieces: own, quotes } of apart) {
    const at = json.indexOf(mark, from)
    pieces.push(json.slice(from, at - quotes), ...own)
    from = at + mark.length + quotes
  }
  pieces.push(json.slice(from))
  return pieces
}

/** The value with a mark for each part that goes into the bytes by itself. */
const marked = (value: unknown, apart: Marked[]): unknown => {
  if (typeof value === 'string') {
    if (value.length < longText || escapes.test(value)) return value
    apart.push({ pieces: [value], quotes: 0 })
    return mark
  }
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Apart) {
    apart.push({ pieces: piecesOf(value.value), quotes: 1 })
    return value
  }
  const kept = keptText(value)
  if (kept !== undefined) {
    apart.push({ pieces: [kept], quotes: 1 })
    return mark
  }
  return Array.isArray(value) ? markedList(value, apart) : markedMembers(value, apart)
}

const markedList = (list: readonly unknown[], apart: Marked[]): readonly unknown[] => {
  let copy: unknown[] | null = null
  for (let at = 0; at < list.length; at++) {
    const next = marked(list[at], apart)
    if (next !== list[at]) (copy ??= [...list])[at] = next
  }
  return copy ?? list
}

const markedMembers = (value: object, apart: Marked[]): object => {
  let copy: Record<string, unknown> | null = null
  for (const name in value) {
    const member: unknown = value[name as keyof typeof value]
    const next = marked(member, apart)
    if (next !== member) (copy ??= { ...value } as Record<string, unknown>)[name] = next
  }
  return copy ?? value
}
