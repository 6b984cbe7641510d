import { randomBytes } from 'node:crypto'
import { backslash, malformed, type JsonScan } from '../../core/dialects/json-scan.ts'
import { parsed } from '../../core/dialects/json.ts'
import { keptText } from '../../core/dialects/json-text.ts'

/** Long texts of a JSON as it writes them, with their quotes, by what they mean. */
export type LongTexts = ReadonlyMap<string, Uint8Array>

export const noTexts: LongTexts = new Map()

/** Stands for a long text while the rest is parsed. It is random, so no text of a caller or a backend begins with it. */
const mark = randomBytes(18).toString('base64url')

/** Characters below a space stand in no JSON text. */
const spoken = /^[^\0-\x1f]*$/

/** Lists and objects within each other that are looked through for long texts. */
const deepest = 5

/** What a JSON says, as its long texts are decoded once and by themselves. */
export interface ReadAround {
  readonly scan: JsonScan
  readonly value: unknown
  /** In the order of the scan. */
  readonly found: readonly string[]
}

/** Throws BadRequest for what is no JSON. */
export const readAround = (scan: JsonScan): ReadAround => {
  const { bytes, texts } = scan
  const found: string[] = []
  let [rest, from, slash] = ['', 0, 0]
  for (let at = 0; at < texts.length; at += 2) {
    const [begin, end] = [texts[at]!, texts[at + 1]!]
    if (slash >= 0 && slash < begin) slash = bytes.indexOf(backslash, begin)
    const isPlain = slash < 0 || slash >= end
    const text = isPlain ? bytes.toString('utf8', begin + 1, end - 1) : parsed(bytes.toString('utf8', begin, end))
    if (isPlain && !spoken.test(text as string)) throw malformed()
    rest += `${bytes.toString('utf8', from, begin)}"${mark}${found.length}"`
    from = end
    found.push(text as string)
  }
  const value = parsed(rest + bytes.toString('utf8', from))
  return { scan, value: found.length === 0 ? value : filled(value, found), found }
}

/** The long texts for a printer. */
export const longTexts = ({ scan: { bytes, texts }, found }: Pick<ReadAround, 'scan' | 'found'>): LongTexts =>
  found.length === 0
    ? noTexts
    : new Map(found.map((text, at) => [text, bytes.subarray(texts[2 * at], texts[2 * at + 1])]))

/** The value with the texts in the places of their marks. */
const filled = (value: unknown, texts: readonly string[]): unknown => {
  if (typeof value === 'string') return value.startsWith(mark) ? texts[Number(value.slice(mark.length))] : value
  const members = value as Record<string, unknown>
  for (const name in members) members[name] = filled(members[name], texts)
  return value
}

/** The JSON of a value, with long texts as they were written before. */
export const printAround = (value: unknown, texts: LongTexts): Buffer => {
  const parts: Uint8Array[] = []
  let text = ''
  const print = (part: unknown, depth: number): void => {
    const written = typeof part === 'string' ? texts.get(part) : undefined
    if (written !== undefined) {
      parts.push(Buffer.from(text), written)
      text = ''
    } else if (typeof part !== 'object' || part === null) text += JSON.stringify(part) ?? 'null'
    else if (keptText(part) !== undefined || depth === deepest) text += keptText(part) ?? JSON.stringify(part)
    else {
      const isList = Array.isArray(part)
      let before = isList ? '[' : '{'
      for (const name in part) {
        const member: unknown = part[name as keyof typeof part]
        if (member === undefined && !isList) continue
        text += isList ? before : `${before}${JSON.stringify(name)}:`
        before = ','
        print(member, depth + 1)
      }
      if (before !== ',') text += before
      text += isList ? ']' : '}'
    }
  }
  print(value, 0)
  parts.push(Buffer.from(text))
  return Buffer.concat(parts)
}
