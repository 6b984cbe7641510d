import { Unreadable } from '../../errors.ts'
import type { Document, File, Format } from '../documents/document.ts'
import { formatOf } from '../documents/document-format.ts'
import type { Written } from '../documents/document-writing.ts'
import { readDocx } from '../documents/docx.ts'
import { readEpub } from '../documents/epub.ts'
import { readHtml } from '../documents/html.ts'
import { readMarkdown } from '../documents/text-markdown.ts'
import { readOdt } from '../documents/odt.ts'
import { readPlain } from '../documents/text-plain.ts'
import { readRtf } from '../documents/rtf.ts'

const readers: Readonly<Record<Format, (bytes: Uint8Array) => Written | Promise<Written>>> = {
  docx: readDocx,
  odt: readOdt,
  epub: readEpub,
  rtf: readRtf,
  html: readHtml,
  md: readMarkdown,
  txt: readPlain,
}

/** Finds out what a document is and reads it. */
export default async (file: File): Promise<Document> => {
  const format = await formatOf(file)
  if (format === 'pptx' || format === 'odp') throw new Unreadable()
  return { format, ...(await readers[format](file.bytes)) }
}
