import { Unreadable } from '../../../core/errors.ts'
import { openCompound } from '../shared/compound.ts'

/** The largest number of cells that a file may declare by repetition. */
const mostRepeated = 1_000_000

/**
 * Removes from a workbook's part the elements that would make the library fill millions of cells. Throws Unreadable for
 * a text document and for too many repetitions.
 */
export const safePart = (name: string, file: Uint8Array): Buffer => {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length)
  if (name === 'content.xml' && !bytes.includes('<office:spreadsheet')) throw new Unreadable()
  if (/content\.xml$/i.test(name)) {
    guardRepeats(bytes.toString('latin1'))
    guardTexts(bytes.toString('latin1'))
  }
  if (name === 'content.xml') return signedTimes(openedCells(evenQuotes(bytes)))
  if (!/\.xml$/i.test(name) || !(bytes.includes('hyperlink') || bytes.includes('</f>') || bytes.includes(':f>')))
    return bytes
  // A link becomes a cell in every place of its range, which may be a whole sheet.
  const tamed = bytes.toString('latin1').replace(/<(?:\w*:)?hyperlink\s[^<>]*>/g, '')
  return Buffer.from(tamed.replace(unworked, '<$1c$2 t="str"><$1v>=$3</$1v></$1c>'), 'latin1')
}

/** A formula without a computed value, as other programs write it: the formula itself becomes the cell's text. */
const unworked =
  /<(\w+:)?c((?:\s+[rs]="[^"<>]*")*)\s*><\1f(?:\s[^<>]*)?>([^<>]+)<\/\1f>(?:<\1v\s*\/>|<\1v><\/\1v>)?<\/\1c>/g

/** The library does not see an element of an ods with a value in single quotes, such as a formula with a text in it. */
const evenQuotes = (bytes: Buffer): Buffer => {
  if (!bytes.includes("='")) return bytes
  const even = (value: string, single?: string): string =>
    single === undefined ? value : `="${single.replaceAll('"', '&quot;')}"`
  const text = bytes
    .toString('latin1')
    .replace(/<[^<>]*>/g, (tag) => (tag.includes("'") ? tag.replace(/="[^"]*"|=\s*'([^']*)'/g, even) : tag))
  return Buffer.from(text, 'latin1')
}

/** The library takes a cell without a text for an empty one, whatever its value. */
const openedCells = (bytes: Buffer): Buffer => {
  const text = bytes.toString('latin1')
  const opened = text.replace(/<((?:\w+:)?table-cell)(\s[^<>]*)\/>/g, (cell, name: string, attributes: string) =>
    /[\s:-]value="/.test(attributes) ? `<${name}${attributes}></${name}>` : cell,
  )
  return opened === text ? bytes : Buffer.from(opened, 'latin1')
}

/** The library drops the sign of a negative time: such a cell becomes a number of days, and keeps its format. */
const signedTimes = (bytes: Buffer): Buffer => {
  if (!bytes.includes('time-value="-P')) return bytes
  const text = bytes.toString('latin1').replace(/<(?:\w+:)?table-cell\s[^<>]*>/g, (cell) => {
    const [time, hours = 0, minutes = 0, seconds = 0] = negativeTime.exec(cell) ?? []
    if (time === undefined) return cell
    const days = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) / 86_400
    return cell.replace(time, `value="-${days}"`).replace(/value-type="time"/g, 'value-type="float"')
  })
  return Buffer.from(text, 'latin1')
}

/** Office programs count no days in a time. */
const negativeTime = /time-value="-PT(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:\.\d+)?S)?"/

/** Throws Unreadable when filled cells are repeated too often. Repetitions of empty cells cost nothing. */
const guardRepeats = (content: string): void => {
  let rows = 1
  let repeated = 0
  for (const [tag, kind] of content.matchAll(/<(?:\w+:)?table-(row|cell)\b[^<>]*>/g)) {
    if (kind === 'row') rows = times(tag, 'rows')
    else if (!tag.endsWith('/>') || tag.includes('value')) repeated += rows * times(tag, 'columns') - 1
    if (repeated > mostRepeated) throw new Unreadable()
  }
}

const times = (tag: string, of: 'rows' | 'columns'): number =>
  Math.max(1, Number(new RegExp(`number-${of}-repeated\\s*=\\s*["'](\\d+)`).exec(tag)?.[1] ?? 1))

/**
 * At the end of each paragraph the library reads again from where the last one began, and it writes every space that is
 * counted. Throws Unreadable when paragraphs in paragraphs or counted spaces are too much.
 */
const guardTexts = (content: string): void => {
  let began = 0
  let again = 0
  let spaces = 0
  for (const { 0: tag, 1: slash, 2: kind, index } of content.matchAll(/<(\/?)(?:\w+:)?([ps])\b[^<>]*>/g)) {
    if (kind === 's') spaces += Number(/\bc="(\d+)"/.exec(tag)?.[1] ?? 1)
    else if (slash !== '') again += index - began
    else if (!tag.endsWith('/>')) began = index + tag.length
    if (spaces > mostRepeated || again > 2 * content.length) throw new Unreadable()
  }
}

/** A record that lists the sheets of other workbooks, and one of a formula, in the numbers of the format. */
const [externalSheets, formula] = [0x17, 0x06]

/** The places of records of one kind, and the lengths of their contents. */
function* recordsOf(stream: Buffer, kind: number): Generator<readonly [number, number]> {
  for (let at = 0; at + 4 <= stream.length; at += 4 + stream.readUInt16LE(at + 2))
    if (stream.readUInt16LE(at) === kind) yield [at, stream.readUInt16LE(at + 2)]
}

/** Whether each formula has the empty text for its value, as in the files of a program that works out none. */
export const isUnworked = (stream: Buffer): boolean => {
  let unworked = false
  for (const [at] of recordsOf(stream, formula)) {
    unworked = /^03.{10}ffff$/.test(stream.toString('hex', at + 10, at + 18))
    if (!unworked) break
  }
  return unworked
}

/**
 * The stream of a compound file that holds a workbook's cells. Throws Unreadable without one, and for a list without its
 * length, which the library would read without end.
 */
export const safeStream = (bytes: Uint8Array): Buffer => {
  const file = openCompound(bytes)
  const named = (name: RegExp): Buffer | null => file.stream(file.paths.find((path) => name.test(path)) ?? '')
  const stream = named(/^workbook$/i) ?? named(/^book$/i)
  if (stream === null) throw new Unreadable()
  for (const [, length] of recordsOf(stream, externalSheets)) if (length < 2) throw new Unreadable()
  return stream
}
