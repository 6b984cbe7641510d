import type { FileToRead, Kind } from '../../../core/ports/reader.ts'
import { imageHeadOf } from '../../shared/image-heads.ts'
import { packageKindOf } from './package-kind.ts'

/**
 * The kind of a file: by its first bytes, then its name and type, then its parts. Any other file counts as a document.
 */
export const kindOf = ({ name, mime, bytes }: FileToRead): Kind => {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString('latin1')
  if (head.includes('%PDF-')) return 'pdf'
  if (imageHeadOf(bytes) !== null) return 'image'
  if (head.startsWith('PAR1')) return 'data'
  if (/^(xlsx|xlsm|xls|ods|csv|tsv)$/.test(ending) || /spreadsheet|ms-excel|text\/(csv|tab-separated)/.test(mime))
    return 'spreadsheet'
  if (/^(pptx|ppsx|potx|odp|otp)$/.test(ending) || /presentation/.test(mime)) return 'slides'
  return packageKindOf(bytes) ?? 'document'
}
