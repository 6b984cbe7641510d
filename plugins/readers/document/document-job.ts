import { Unreadable } from '../../../core/errors.ts'
import type { Beside, Document } from '../../../core/ports/file-content.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { type Format, formatOf } from '../shared/document-format.ts'
import type { WrittenDocument } from '../shared/document-writing.ts'
import { besideOdf } from '../shared/beside-odf.ts'
import { besideOoxml } from '../shared/beside-ooxml.ts'
import { readDoc } from './doc.ts'
import { readDocx } from './docx.ts'
import { readEml } from './eml.ts'
import { readEpub } from './epub.ts'
import { readHtml } from './html.ts'
import { readMsg } from './msg.ts'
import { readMarkdown } from './text-markdown.ts'
import { readOdt } from '../shared/odt.ts'
import { readPlain } from './text-plain.ts'
import { readRtf } from './rtf.ts'

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
