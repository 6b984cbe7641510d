import { Unreadable } from '../../../core/errors.ts'
import type { Document } from '../../../core/ports/file-content.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { type Format, formatOf } from '../shared/document-format.ts'
import type { Written } from '../shared/document-writing.ts'
import { besideOdf } from '../shared/beside-odf.ts'
import { besideOoxml } from '../shared/beside-ooxml.ts'
import { readDocx } from './docx.ts'
import { readEpub } from './epub.ts'
import { readHtml } from './html.ts'
import { readMarkdown } from './text-markdown.ts'
import { readOdt } from '../shared/odt.ts'
import { readPlain } from './text-plain.ts'
import { readRtf } from './rtf.ts'

type Read = Written & Pick<Document, 'encoding'>

const readers: Readonly<Record<Format, (bytes: Uint8Array, mime: string) => Read | Promise<Read>>> = {
  docx: readDocx,
  odt: readOdt,
  epub: readEpub,
  rtf: readRtf,
  html: readHtml,
  md: readMarkdown,
  txt: readPlain,
}

/** Detects the format of a document and reads it. */
export default async (file: FileToRead): Promise<Document> => {
  const format = await formatOf(file)
  if (format === 'pptx' || format === 'odp') throw new Unreadable()
  const beside = format === 'docx' ? besideOoxml : format === 'odt' ? besideOdf : null
  return { format, ...(await readers[format](file.bytes, file.mime)), ...(await beside?.(file.bytes)) }
}
