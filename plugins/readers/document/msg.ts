import { type Compound, openCompound } from '../shared/compound.ts'
import { documentWriter, type WrittenDocument } from '../shared/document-writing.ts'
import { decodeBytes } from '../../shared/charset.ts'
import { writeHtml } from './html.ts'
import { writeAttachments, writeHeads, writeLines } from './mail-heads.ts'
import { decodeCodePage } from './rtf-charset.ts'
import { readRtf } from './rtf.ts'
import { unpackRtf } from './msg-rtf.ts'

/** Properties of a mail, by their numbers. */
const subject = 0x0037
const sent = 0x0039
const senderName = 0x0c1a
const senderAddresses = [0x5d01, 0x0c1f] as const
const shownTo = 0x0e04
const shownCc = 0x0e03
const text = 0x1000
const packedRtf = 0x1009
const html = 0x1013
const fileNames = [0x3707, 0x3704, 0x3001] as const
const codePages = [0x3ffd, 0x3fde] as const

/** Types of properties, as the names of their streams end. */
const types = { binary: '0102', wide: '001F', narrow: '001E' } as const

/** Reads a mail of Outlook: its heads, its text, the names of its attachments. */
export const readMsg = async (bytes: Uint8Array): Promise<WrittenDocument> => {
  const file = openCompound(bytes)
  const fixed = fixedOf(file)
  const codePage = codePages.map((it) => fixed.get(it)?.readUInt32LE(0)).find((it) => it !== undefined) ?? 1252
  const said = (property: number, folder = ''): string => {
    const wide = file.stream(folder + streamOf(property, types.wide))
    if (wide !== null) return wideText(wide)
    const narrow = file.stream(folder + streamOf(property, types.narrow))
    return narrow === null ? '' : decodeCodePage(unended(narrow), codePage)
  }
  const writing = documentWriter()
  const address = senderAddresses.map((it) => said(it)).find((it) => it.includes('@')) ?? ''
  const name = said(senderName)
  writeHeads(writing, {
    from: address === '' || address === name ? name : `${name} <${address}>`,
    to: recipients(file, said) || said(shownTo),
    cc: said(shownCc),
    date: dateOf(fixed.get(sent)),
    subject: said(subject),
  })
  await writeBody()
  const attached = file.paths.flatMap((path) => /^(__attach_version1\.0_#[^/]+\/)__properties/.exec(path)?.[1] ?? [])
  writeAttachments(
    writing,
    attached.flatMap((folder) => fileNames.map((it) => said(it, folder)).find((it) => it !== '') ?? []),
  )
  return writing.finish()

  async function writeBody(): Promise<void> {
    const plain = said(text)
    if (plain.trim() !== '') return writeLines(writing, plain)
    const page = file.stream(streamOf(html, types.binary))
    const written = said(html) || (page === null ? '' : decodeBytes(page, '', 'page').text)
    if (written !== '') return writeHtml(writing, written)
    const rtf = file.stream(streamOf(packedRtf, types.binary))
    if (rtf === null) return
    for (const section of readRtf(unpackRtf(rtf)).sections)
      writeLines(writing, [section.heading ?? '', section.text].join('\n').trim())
  }
}

/** A text without the zero at its end. */
const unended = (bytes: Buffer): Buffer => (bytes.at(-1) === 0 ? bytes.subarray(0, -1) : bytes)

/** Some programs store plain ASCII under the type of UTF-16. */
const wideText = (bytes: Buffer): string =>
  bytes.toString(/^[\x20-\x7e]{6,}\0?$/.test(bytes.toString('latin1')) ? 'latin1' : 'utf16le').replace(/\0+$/, '')

const hex = (number: number): string => number.toString(16).toUpperCase().padStart(4, '0')

const streamOf = (property: number, type: string): string => `__substg1.0_${hex(property)}${type}`

/** The values of properties with a fixed size, by their numbers. */
const fixedOf = (file: Compound): ReadonlyMap<number, Buffer> => {
  const all = file.stream('__properties_version1.0') ?? Buffer.alloc(0)
  const values = new Map<number, Buffer>()
  for (let at = 32; at + 16 <= all.length; at += 16) values.set(all.readUInt16LE(at + 2), all.subarray(at + 8, at + 16))
  return values
}

/** All recipients in one line; empty when the file lists none. */
const recipients = (file: Compound, said: (property: number, folder: string) => string): string =>
  file.paths
    .flatMap((path) => /^(__recip_version1\.0_#[^/]+\/)__properties/.exec(path)?.[1] ?? [])
    .map((folder) => {
      const [name, address] = [said(0x3001, folder), said(0x39fe, folder) || said(0x3003, folder)]
      return address === '' || address === name ? name : `${name} <${address}>`
    })
    .join(', ')

/** Windows counts tenths of microseconds since 1601. */
const dateOf = (value: Buffer | undefined): string => {
  if (value === undefined) return ''
  const date = new Date(Number(value.readBigUInt64LE(0) / 10_000n) - 11_644_473_600_000)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
