import { type Compound, openCompound } from '../shared/compound.ts'
import { documentWriter, type WrittenDocument } from '../shared/document-writing.ts'
import { decodeBytes } from '../../shared/charset.ts'
import { writeHtml } from './html.ts'
import { writeAttachments, writeHeads, writeLines } from './mail-heads.ts'
import { codePageNames, decodeCodePage } from './rtf-charset.ts'
import { readRtf } from './rtf.ts'
import { Unreadable } from '../../../core/errors.ts'

/** Properties of a mail, by their numbers. */
const subject = 0x0037
const sent = 0x0039
const senderName = 0x0c1a
const senderAddresses = [0x5d01, 0x0c1f] as const
/** Recipients by their kind: its number, and the property that shows all their names. */
const kinds = { to: [1, 0x0e04], cc: [2, 0x0e03], bcc: [3, 0x0e02] } as const
const recipientKind = 0x0c15
const recipientAddresses = [0x39fe, 0x3003] as const
const text = 0x1000
const packedRtf = 0x1009
const html = 0x1013
const fileNames = [0x3707, 0x3704, 0x3001] as const
const messageClass = 0x001a
/** Code pages of texts, and of a page. */
const codePages = [0x3ffd, 0x3fde] as const

/** Types of properties, as the names of their streams end. */
const types = { binary: '0102', wide: '001F', narrow: '001E' } as const

/** Reads a mail of Outlook: its heads, its text, the names of its attachments. */
export const readMsg = async (bytes: Uint8Array): Promise<WrittenDocument> => {
  const file = openCompound(bytes)
  const fixed = fixedOf(file.stream('__properties_version1.0'), 32)
  const [ofTexts, ofPage] = codePages.map((name) => fixed.get(name)?.readUInt32LE(0))
  const codePage = ofTexts ?? ofPage
  // The class of a mail is ASCII, which shows how the program stores it.
  const isWide = file.stream(streamOf(messageClass, types.wide))?.[1] === 0
  const textOf = (property: number, folder = ''): string => {
    const wide = file.stream(folder + streamOf(property, types.wide))
    if (wide !== null) return wideText(wide, isWide)
    const narrow = unended(file.stream(folder + streamOf(property, types.narrow)) ?? Buffer.alloc(0))
    return codePage === undefined ? decodeBytes(narrow, '', 'text').text : decodeCodePage(narrow, codePage)
  }
  const writing = documentWriter()
  const recipients = recipientsOf(file, textOf)
  const named = ([number, shown]: (typeof kinds)['to' | 'cc' | 'bcc']): string =>
    recipients.flatMap(({ kind, person }) => (kind === number ? person : [])).join(', ') || textOf(shown)
  const addresses = senderAddresses.map((name) => textOf(name))
  writeHeads(writing, {
    from: personOf(textOf(senderName), addresses),
    ...{ to: named(kinds.to), cc: named(kinds.cc), bcc: named(kinds.bcc) },
    date: dateOf(fixed.get(sent)),
    subject: textOf(subject),
  })
  await writeBody()
  const nameOf = (folder: string) => fileNames.map((name) => textOf(name, folder)).find((text) => text !== '') ?? []
  writeAttachments(writing, foldersOf(file, 'attach').flatMap(nameOf))
  return writing.finish()

  async function writeBody(): Promise<void> {
    const plain = textOf(text)
    if (plain.trim() !== '') return writeLines(writing, plain)
    const page = file.stream(streamOf(html, types.binary))
    const written = textOf(html) || (page === null ? '' : pageText(page, ofPage ?? ofTexts))
    if (written !== '') return writeHtml(writing, written)
    const rtf = file.stream(streamOf(packedRtf, types.binary))
    if (rtf === null) return
    for (const section of readRtf(unpackRtf(rtf)).sections)
      writeLines(writing, [section.heading ?? '', section.text].join('\n').trim())
  }
}

/** A text without the zero at its end. */
const unended = (bytes: Buffer): Buffer => (bytes.at(-1) === 0 ? bytes.subarray(0, -1) : bytes)

/** Some programs store plain ASCII under the type of UTF-16; in other files such bytes are Chinese. */
const wideText = (bytes: Buffer, isWide: boolean): string =>
  bytes
    .toString(!isWide && /^[\x20-\x7e]{6,}\0?$/.test(bytes.toString('latin1')) ? 'latin1' : 'utf16le')
    .replace(/\0+$/, '')

/** What a page says of its encoding goes before the mail's code page, and that before what its bytes resemble. */
const pageText = (page: Buffer, codePage = 0): string => {
  const { text, encoding } = decodeBytes(page, '')
  const isGuessed = encoding.confidence < 1 && !encoding.name.startsWith('utf')
  return isGuessed && codePage in codePageNames ? decodeCodePage(page, codePage) : text
}

const hex = (number: number): string => number.toString(16).toUpperCase().padStart(4, '0')

const streamOf = (property: number, type: string): string => `__substg1.0_${hex(property)}${type}`

/** The values of properties with a fixed size, by their numbers; they follow a header of so many bytes. */
const fixedOf = (all: Buffer | null, header: number): ReadonlyMap<number, Buffer> => {
  const values = new Map<number, Buffer>()
  for (let at = header; all !== null && at + 16 <= all.length; at += 16)
    values.set(all.readUInt16LE(at + 2), all.subarray(at + 8, at + 16))
  return values
}

/** A name with its mail address. An address in the directory of a company has no `@`, and is left out. */
const personOf = (name: string, addresses: readonly string[]): string => {
  const address = addresses.find((text) => text.includes('@')) ?? ''
  return address === '' || address === name ? name : `${name} <${address}>`
}

/** All recipients in their order. One without a known kind gets the mail like those it is sent to. */
const recipientsOf = (file: Compound, textOf: (property: number, folder: string) => string) =>
  foldersOf(file, 'recip').map((folder) => {
    const fixed = fixedOf(file.stream(`${folder}__properties_version1.0`), 8)
    // Higher bits say how the mail was sent again.
    const number = (fixed.get(recipientKind)?.readUInt32LE(0) ?? 0) & 15
    const addresses = recipientAddresses.map((name) => textOf(name, folder))
    return {
      kind: number === kinds.cc[0] || number === kinds.bcc[0] ? number : kinds.to[0],
      person: personOf(textOf(0x3001, folder), addresses),
    }
  })

/** The folders of recipients or attachments, in the order of their numbers. */
const foldersOf = (file: Compound, kind: 'recip' | 'attach'): readonly string[] =>
  file.paths
    .flatMap((path) => /^(__(recip|attach)_version1\.0_#[^/]+\/)__properties/.exec(path)?.[1] ?? [])
    .filter((folder) => folder.startsWith(`__${kind}`))
    .sort()

/** Windows counts tenths of microseconds since 1601. */
const dateOf = (value: Buffer | undefined): string => {
  if (value === undefined) return ''
  const date = new Date(Number(value.readBigUInt64LE(0) / 10_000n) - 11_644_473_600_000)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

/** The words that every packed text may refer to, as the format defines them. */
const dictionary =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor ' +
  'MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par ' +
  '\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'

/** In bytes: how far a reference reaches back. */
const windowBytes = 4096
/** The marks of packed and of plain text: LZFu and MELA. */
const packed = 0x75465a4c
const plain = 0x414c454d

/** In bytes: a mail's text is shorter. */
const most = 32_000_000

/** The RTF of a mail, which Outlook packs. Throws Unreadable when it is neither packed nor plain. */
export const unpackRtf = (bytes: Buffer): Buffer => {
  if (bytes.length < 16) throw new Unreadable()
  const kind = bytes.readUInt32LE(8)
  if (kind === plain) return bytes.subarray(16)
  if (kind !== packed) throw new Unreadable()
  const size = bytes.readUInt32LE(4)
  if (size > most) throw new Unreadable()
  const out = Buffer.alloc(dictionary.length + size)
  let end = out.write(dictionary, 'latin1')
  const ends = Math.min(bytes.length, bytes.readUInt32LE(0) + 4)
  for (let at = 16; at < ends && end < out.length;) {
    const flags = bytes[at++]!
    for (let bit = 0; bit < 8 && at < ends && end < out.length; bit++) {
      if ((flags & (1 << bit)) === 0) {
        out[end++] = bytes[at++]!
        continue
      }
      if (at + 2 > ends) break
      const reference = bytes.readUInt16BE(at)
      at += 2
      const back = (end - (reference >> 4) + windowBytes) % windowBytes
      // A reference to the place of writing ends the text.
      if (back === 0) return out.subarray(dictionary.length, end)
      for (let length = (reference & 15) + 2; length > 0 && end < out.length; length--, end++)
        out[end] = end < back ? 0 : out[end - back]!
    }
  }
  return out.subarray(dictionary.length, end)
}
