import { Unreadable } from '../../../core/errors.ts'
import type { Beside, Document, DocumentSection } from '../../../core/ports/file-content.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { type Format, formatOf } from '../shared/document-format.ts'
import { type WrittenDocument, mostText } from '../shared/document-writing.ts'
import { besideOdf } from '../shared/beside-odf.ts'
import { besideOoxml } from '../shared/beside-ooxml.ts'
import { readDoc } from './doc.ts'
import { readDocx } from './docx.ts'
import { readEml } from './eml.ts'
import { readEpub } from './epub.ts'
import { readHtml } from './html.ts'
import { readMsg } from './msg.ts'
import { readOdt } from '../shared/odt.ts'
import { readPlain, decodeText } from './text-plain.ts'
import { readRtf } from './rtf.ts'
import { cutSections } from '../../shared/cut-sections.ts'

/** Reads Markdown. The text stays as written; its headings separate sections. */
const readMarkdown = (bytes: Uint8Array, mime: string): WrittenDocument & Pick<Document, 'encoding'> => {
  const { text: whole, encoding } = decodeText(bytes, mime)
  const lines = whole.split('\n')
  const sections: DocumentSection[] = []
  let heading: string | null = null
  let text: string[] = []
  let fence = ''
  let title: string | null = null
  const begin = (next: string, level: number) => {
    close()
    heading = next
    if (level === 1) title ??= next
  }
  const close = () => {
    const block = text.join('\n').trim()
    if (block !== '' || heading !== null) sections.push({ heading, text: block })
    text = []
  }
  const uncomment = uncommenting(lines)
  for (const [at, written] of lines.entries()) {
    const line = fence === '' ? uncomment(written, at) : written
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark !== undefined && (fence === '' || mark.startsWith(fence))) fence = fence === '' ? mark : ''
    const hashes = fence === '' ? /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(line) : null
    const under = fence === '' && isProse(text.at(-1)) ? /^ {0,3}(=+|-{2,})[ \t]*$/.exec(line) : null
    if (hashes) begin(unhashed(line.slice(hashes[0].length)), hashes[1]!.length)
    else if (under) begin(text.pop()!.trim(), under[1]!.startsWith('=') ? 1 : 2)
    else text.push(line)
  }
  close()
  const about = /^---\n(?:[^\n]*\n){0,40}?title:[ \t]*["']?([^\n"']+)/.exec(lines.slice(0, 42).join('\n'))?.[1]
  return { title: about?.trim() ?? title, encoding, ...cutSections(sections, mostText) }
}

/** True for a line that an underline turns into a heading. A rule after other lines makes no heading. */
const isProse = (line: string | undefined): boolean =>
  line !== undefined && line.trim() !== '' && !/^ {0,3}([-*+>|#]|\d+[.)])|^ {4}|^\t|^[\w-]+:\s/.test(line)

/** The text of a heading without the number signs behind it. */
const unhashed = (text: string): string =>
  text
    .trim()
    .replace(/(^|[ \t])#+$/, '')
    .trim()

/** Removes comments line by line. An unfinished comment stays. */
const uncommenting = (lines: readonly string[]) => {
  const last = lines.findLastIndex((line) => line.includes('-->'))
  let within = false
  return (line: string, at: number): string => {
    let kept = ''
    for (let rest = line; ;) {
      const next = at > last ? -1 : rest.indexOf(within ? '-->' : '<!--')
      if (next < 0) return within ? kept : kept + rest
      if (!within) kept += rest.slice(0, next)
      rest = rest.slice(next + (within ? 3 : 4))
      within = !within
    }
  }
}

type Read = WrittenDocument & Beside & Pick<Document, 'encoding'>

const readers: Readonly<Record<Format, (bytes: Uint8Array, mime: string) => Read | Promise<Read>>> = {
  docx: readDocx,
  odt: readOdt,
  epub: readEpub,
  rtf: readRtf,
  html: readHtml,
  md: readMarkdown,
  txt: readPlain,
  doc: readDoc,
  msg: readMsg,
  eml: readEml,
}

/** Detects the format of a document and reads it. */
export default async (file: FileToRead): Promise<Document> => {
  const format = await formatOf(file)
  if (format === 'pptx' || format === 'odp' || format === 'ppt') throw new Unreadable()
  const beside = format === 'docx' ? besideOoxml : format === 'odt' ? besideOdf : null
  return { format, ...(await readers[format](file.bytes, file.mime)), ...(await beside?.(file.bytes)) }
}
