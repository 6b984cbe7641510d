import { Unreadable } from '../../errors.ts'
import type { Document, File, Format } from '../document.ts'
import { formatOf } from '../document-format.ts'
import type { Written } from '../document-writing.ts'
import { readDocx } from '../docx.ts'
import { readEpub } from '../epub.ts'
import { readHtml } from '../html.ts'
import { readMarkdown } from '../text-markdown.ts'
import { readOdt } from '../odt.ts'
import { readPlain } from '../text-plain.ts'
import { readRtf } from '../rtf.ts'

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
