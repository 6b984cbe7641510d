import type { FileToRead, Kind } from '../../../core/ports/reader.ts'
import { imageHeadOf } from '../../shared/image-heads.ts'
import { Unreadable } from '../../../core/errors.ts'
import { isCompound } from '../../shared/unreadable-reason.ts'
import { isZip } from '../../shared/zip.ts'
import { openCompound } from './compound.ts'

/**
 * The kind of a file: by its first bytes, then its name and type, then its parts. Any other file counts as a document.
 */
export const kindOf = ({ name, mime, bytes }: FileToRead): Kind => {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString('latin1')
  if (head.startsWith('%PDF-') || (head.includes('%PDF-') && !saysText(ending, mime))) return 'pdf'
  if (imageHeadOf(bytes) !== null) return 'image'
  if (head.startsWith('PAR1')) return 'data'
  if (/^(xlsx|xlsm|xls|ods|csv|tsv)$/.test(ending) || /spreadsheet|ms-excel|text\/(csv|tab-separated)/.test(mime))
    return 'spreadsheet'
  if (/^(pptx|ppsx|potx|odp|otp)$/.test(ending) || /presentation/.test(mime)) return 'slides'
  return packageKindOf(bytes) ?? 'document'
}

/** True for a name or type of texts, which may mention the first bytes of other files. */
const saysText = (ending: string, mime: string): boolean =>
  /^(txt|md|markdown|csv|tsv|html?|xml|json|jsonl|ya?ml|eml|log|tex)$/.test(ending) || /^(text|message)\//.test(mime)

/** The kind of an office file by its parts; null when the parts do not tell. Unpacks nothing. */
const packageKindOf = (bytes: Uint8Array): Kind | null => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isCompound(file)) return compoundKindOf(file)
  if (!isZip(file)) return null
  const type = openDocument.exec(file.toString('latin1', 30, 120))?.[1]
  if (type === 'spreadsheet') return 'spreadsheet'
  if (type === 'presentation') return 'slides'
  for (const name of partsOf(file)) {
    if (/^xl\/workbook\.(xml|bin)$/i.test(name)) return 'spreadsheet'
    if (/^ppt\/presentation\.xml$/i.test(name)) return 'slides'
  }
  return null
}

/** A document may hold workbooks in folders of its own: only the outermost streams count. */
const compoundKindOf = (file: Buffer): Kind | null => {
  const names = outermost(file)
  if (names.has('WordDocument')) return 'document'
  if (names.has('PowerPoint Document')) return 'slides'
  return names.has('Workbook') || names.has('Book') ? 'spreadsheet' : null
}

/** A damaged container has no names, and the reader of documents then refuses it. */
const outermost = (file: Buffer): ReadonlySet<string> => {
  try {
    return new Set(openCompound(file).paths)
  } catch (error) {
    if (error instanceof Unreadable) return new Set()
    throw error
  }
}

/** An OpenDocument file begins with its type. */
const openDocument = /^mimetypeapplication\/vnd\.oasis\.opendocument\.(spreadsheet|presentation)/

/** The largest number of examined parts; an office file has a few hundred. */
const mostParts = 10_000

/** The names in the directory at the end of an archive. */
function* partsOf(file: Buffer): Generator<string> {
  const end = file.lastIndexOf('PK\x05\x06')
  if (end < 0 || end + 20 > file.length) return
  let at = file.readUInt32LE(end + 16)
  for (let left = mostParts; left > 0 && at + 46 <= end && file.readUInt32LE(at) === 0x02014b50; left--) {
    const length = file.readUInt16LE(at + 28)
    yield file.toString('latin1', at + 46, at + 46 + length)
    at += 46 + length + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32)
  }
}
