/** Encodings of East Asian fonts: the name of the CMap in PDF, Node's name, and the lengths of codes in bytes. */
const encodings: readonly (readonly [name: RegExp, label: string, lengths: readonly number[]])[] = [
  [/^(?:83pv|90ms|90msp|90pv|Add|Ext)-RKSJ-[HV]$/, 'shift_jis', [1, 2]],
  [/^EUC-[HV]$/, 'euc-jp', [1, 2]],
  [/^(?:GB|GBpc|GBK|GBKp)-EUC-[HV]$|^GBK2K-[HV]$/, 'gb18030', [1, 2]],
  [/^(?:B5pc|HKscs-B5|ETen-B5|ETenms-B5)-[HV]$/, 'big5', [1, 2]],
  [/^KSC(?:ms-UHC|ms-UHC-HW|-EUC|pc-EUC)-[HV]$/, 'euc-kr', [1, 2]],
  [/^Uni(?:GB|CNS|JIS|JIS2004|JISX0213|JISX02132004|KS)-(?:UCS2|UTF16)(?:-HW)?-[HV]$/, 'utf-16be', [2]],
]

/** The ranges of characters in these fonts, in numbering order. Only Korean has room for the last range. */
const blocks = [
  [0x0000, 0x33ff],
  [0x4e00, 0x9fff],
  [0xf900, 0xfaff],
  [0xff00, 0xffef],
  [0xac00, 0xd7a3],
] as const

/** The numbers begin after Adobe's glyph numbers (CIDs), so a file's own glyph numbers never collide with them. */
const firstNumber = (korean: boolean): number => (korean ? 19_000 : 30_600)
const lastNumber = 0xffff

/** Set while a file is read. */
export interface Fonts {
  /** True when a font numbers its glyphs by missing tables, so that its text is unknown. */
  numbered: boolean
}

/**
 * The CMaps that pdf.js requests for fonts outside the file: from codes to glyph numbers, and from glyph numbers to
 * characters. Both are computed from Node's decoders with our own numbers, so Adobe's tables (1.6 MB) are not needed.
 */
export const binaryData = (fonts: Fonts) => {
  const encoded = new Set<boolean>()
  return class {
    async fetch({ filename }: { readonly filename: string }): Promise<Uint8Array> {
      const name = filename.replace(/\.bcmap$/, '')
      const korean = /Korea|KSC|UniKS/.test(name)
      const body = /^Adobe-\w+-UCS2$/.test(name) ? fromNumbers(korean) : toNumbers(name, korean)
      if (body === null) throw new Error('No such data')
      if (!name.startsWith('Adobe-')) encoded.add(korean)
      else if (!encoded.has(korean)) fonts.numbered = true
      return new TextEncoder().encode([`/CMapName /${name} def`, ...body, 'endcmap'].join('\n'))
    }
  }
}

/** Null when Node has no decoder for the encoding. */
const toNumbers = (name: string, korean: boolean): readonly string[] | null => {
  const found = encodings.find(([pattern]) => pattern.test(name))
  if (found === undefined) return null
  const [, label, lengths] = found
  return [`/WMode ${name.endsWith('V') ? 1 : 0} def`, ...spaces(spacesOf(label)), ...codeRanges(label, lengths, korean)]
}

/** The ranges of one-byte codes and of two-byte codes. */
const spacesOf = (label: string): readonly string[] => {
  if (label === 'utf-16be') return ['<0000> <FFFF>']
  if (label === 'shift_jis') return ['<00> <80>', '<A0> <DF>', '<8140> <9FFC>', '<E040> <FCFC>']
  return ['<00> <80>', '<8140> <FEFE>']
}

const spaces = (ranges: readonly string[]): readonly string[] => [
  `${ranges.length} begincodespacerange`,
  ...ranges,
  'endcodespacerange',
]

/** Codes in a row whose numbers are in a row, too. */
interface Run {
  readonly from: number
  readonly to: number
  readonly number: number
}

const none = null as Run | null

/** Ranges of codes with consecutive numbers. */
function* codeRanges(label: string, lengths: readonly number[], korean: boolean): Generator<string> {
  const decoder = new TextDecoder(label, { fatal: true })
  for (const length of lengths) {
    let run = none
    for (let code = 0; code < 256 ** length; code++) {
      const number = numberOf(decoder, code, length, korean)
      if (number !== null && run && (code & 0xff) > 0 && number - run.number === code - run.from) {
        run = { ...run, to: code }
        continue
      }
      if (run) yield rangeOf(run, length)
      run = number === null ? null : { from: code, to: code, number }
    }
    if (run) yield rangeOf(run, length)
  }
}

const rangeOf = ({ from, to, number }: Run, length: number): string =>
  `1 begincidrange\n<${hex(from, length)}> <${hex(to, length)}> ${number}\nendcidrange`

/** Null when the code is invalid, stands for several characters, or for a character without a number. */
const numberOf = (decoder: TextDecoder, code: number, length: number, korean: boolean): number | null => {
  let text: string
  try {
    text = decoder.decode(Uint8Array.from(length === 1 ? [code] : [code >> 8, code & 0xff]))
  } catch {
    return null
  }
  if (text.length !== 1) return null
  const character = text.charCodeAt(0)
  let number = firstNumber(korean)
  for (const [from, to] of blocks) {
    if (character >= from && character <= to) {
      const found = number + character - from
      return found > lastNumber ? null : found
    }
    number += to - from + 1
  }
  return null
}

/** Maps numbers back to characters, in ranges that share the first byte. */
const fromNumbers = (korean: boolean): readonly string[] => {
  const ranges: string[] = []
  let number = firstNumber(korean)
  for (const [from, to] of blocks) {
    for (let character = from; character <= to && number <= lastNumber;) {
      const step = Math.min(255 - (character & 0xff), 255 - (number & 0xff), to - character)
      ranges.push(`1 beginbfrange\n<${hex(number, 2)}> <${hex(number + step, 2)}> <${hex(character, 2)}>\nendbfrange`)
      character += step + 1
      number += step + 1
    }
  }
  return [...spaces(['<0000> <FFFF>']), ...ranges]
}

const hex = (value: number, bytes: number): string =>
  value
    .toString(16)
    .toUpperCase()
    .padStart(bytes * 2, '0')
