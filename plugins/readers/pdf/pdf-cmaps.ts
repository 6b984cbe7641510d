import type { Taken } from './pdf-job.ts'

/** Encodings of East Asian fonts by the names of their CMaps in PDF, as Node decodes them. */
const encodings: readonly (readonly [name: RegExp, label: string, lengths: readonly number[]])[] = [
  [/^(?:83pv|90ms|90msp|90pv|Add|Ext)-RKSJ-[HV]$/, 'shift_jis', [1, 2]],
  [/^EUC-[HV]$/, 'euc-jp', [1, 2]],
  [/^(?:GB|GBpc|GBK|GBKp)-EUC-[HV]$|^GBK2K-[HV]$/, 'gb18030', [1, 2]],
  [/^(?:B5pc|HKscs-B5|ETen-B5|ETenms-B5)-[HV]$/, 'big5', [1, 2]],
  [/^KSC(?:ms-UHC|ms-UHC-HW|-EUC|pc-EUC)-[HV]$/, 'euc-kr', [1, 2]],
  [/^Uni(?:GB|CNS|JIS|JIS2004|JISX0213|JISX02132004|KS)-(?:UCS2|UTF16)(?:-HW)?-[HV]$/, 'utf-16be', [2]],
]

/**
 * Where real numbers of glyphs (CIDs) end. A code's number is its character beyond this: pdf.js asks for a CMap from codes to
 * numbers and then for another from numbers to characters, so both fit without the tables of Adobe.
 */
const beyond = 0x10000

/**
 * Makes CMaps of fonts that are not embedded. `taken` tells that a font numbers its glyphs by Adobe's tables, which are not
 * here: its text is then unknown.
 */
export const cMapReader = (taken: Taken) =>
  class {
    async fetch({ name }: { readonly name: string }) {
      const text = cMapOf(name, taken)
      if (text === null) throw new Error('No such CMap')
      return { cMapData: new TextEncoder().encode(text), isCompressed: false }
    }
  }

const cMapOf = (name: string, taken: Taken): string | null => {
  if (/^Adobe-\w+-UCS2$/.test(name)) {
    if (!taken.encoded) taken.numbered = true
    return written('UCS2', '<000000> <01FFFF>', unicodeRanges())
  }
  const found = encodings.find(([pattern]) => pattern.test(name))
  if (found === undefined) return null
  taken.encoded = true
  const [, label, lengths] = found
  const mode = name.endsWith('V') ? '/WMode 1 def' : '/WMode 0 def'
  return written(name, spacesOf(label, lengths), [mode, ...codeRanges(label, lengths)])
}

const written = (name: string, spaces: string, body: readonly string[]): string =>
  [`/CMapName /${name} def`, '1 begincodespacerange', spaces, 'endcodespacerange', ...body, 'endcmap'].join('\n')

/** The bytes with which a code of one byte, and of two, may begin. */
const spacesOf = (label: string, lengths: readonly number[]): string => {
  if (lengths[0] === 2) return '<0000> <FFFF>'
  return label === 'shift_jis' ? '<00> <80>\n<A0> <DF>\n<8140> <9FFC>\n<E040> <FCFC>' : '<00> <80>\n<8140> <FEFE>'
}

/** Runs of codes whose characters follow each other. */
function* codeRanges(label: string, lengths: readonly number[]): Generator<string> {
  const decoder = new TextDecoder(label, { fatal: true })
  for (const length of lengths) {
    let run: { readonly from: number; to: number; readonly character: number } | null = null
    for (let code = 0; code < 256 ** length; code++) {
      const character = characterOf(decoder, code, length)
      if (character !== null && run && (code & 0xff) > 0 && character - run.character === code - run.from) {
        run.to = code
        continue
      }
      if (run) yield rangeOf(run, length)
      run = character === null ? null : { from: code, to: code, character }
    }
    if (run) yield rangeOf(run, length)
  }
}

/** Null where the code is none, or stands for more than one character. */
const characterOf = (decoder: TextDecoder, code: number, length: number): number | null => {
  try {
    const text = decoder.decode(Uint8Array.from(length === 1 ? [code] : [code >> 8, code & 0xff]))
    return text.length === 1 ? text.charCodeAt(0) : null
  } catch {
    return null
  }
}

const rangeOf = (run: { readonly from: number; readonly to: number; readonly character: number }, length: number) =>
  `1 begincidrange\n<${hex(run.from, length)}> <${hex(run.to, length)}> ${beyond + run.character}\nendcidrange`

/** From numbers back to characters, 256 at a time. */
const unicodeRanges = (): readonly string[] =>
  Array.from({ length: 256 }, (_, high) => {
    const [from, to] = [beyond + high * 256, beyond + high * 256 + 255]
    return `1 beginbfrange\n<${hex(from, 3)}> <${hex(to, 3)}> <${hex(high * 256, 2)}>\nendbfrange`
  })

const hex = (value: number, bytes: number): string => value.toString(16).toUpperCase().padStart(bytes * 2, '0')
