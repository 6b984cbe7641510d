import { Unreadable } from '../../../core/errors.ts'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { isCompound } from '../../shared/unreadable-reason.ts'
import { isZip, unzip } from '../../shared/zip.ts'
import { openCompound } from './compound.ts'

/** Formats of documents; `txt` stands for any text that no other format claims. */
export type Format = 'docx' | 'odt' | 'epub' | 'rtf' | 'html' | 'md' | 'txt' | 'doc' | 'msg' | 'eml'
export type SlideFormat = 'pptx' | 'odp' | 'ppt'

/**
 * The format of a file: by its bytes, and for text formats by its name and type. Throws Unreadable for an unknown
 * format.
 */
export const formatOf = async ({ name, mime, bytes }: FileToRead): Promise<Format | SlideFormat> => {
  if (isZip(bytes)) return packed(bytes)
  if (isCompound(bytes)) return contained(bytes)
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString('latin1')
  if (head.trimStart().startsWith('{\\rtf')) return 'rtf'
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  const type = mime.split(';')[0]!.trim().toLowerCase()
  if (bytes.length === 0 || head.startsWith('%PDF-') || never.has(ending) || neverTypes.test(type))
    throw new Unreadable()
  if (/^(text\/html|application\/xhtml\+xml)$/.test(type) || /^x?html?$/.test(ending)) return 'html'
  if (/^text\/(x-)?markdown$/.test(type) || /^(md|markdown|mdown|mkd)$/.test(ending)) return 'md'
  if (type === 'message/rfc822' || ending === 'eml') return 'eml'
  return /^[\s\0\xef\xbb\xbf\xfe\xff]*(<!doctype\s+html|<html[\s>])/i.test(unmarked(head)) ? 'html' : 'txt'
}

/** Formats with their own first bytes: a file with only the name of such a format is broken. */
const never = new Set(['docx', 'docm', 'dotx', 'odt', 'ott', 'epub', 'rtf', 'pptx', 'ppsx', 'potx', 'odp', 'otp'])
const neverTypes =
  /^(application\/(vnd\.openxmlformats-.*|vnd\.oasis\.opendocument\..*|epub\+zip|rtf|pdf)|text\/rtf|(image|audio|video|font)\/.*)$/

/** In UTF-16, every other byte of ASCII text is zero. */
const unmarked = (head: string): string => head.replaceAll('\0', '').replace(/^<\?xml[^>]*>/, '')

/** The format of an archive by its own declarations. Throws Unreadable for other archives. */
const packed = async (bytes: Uint8Array): Promise<Format | SlideFormat> => {
  const tell = new Set(['mimetype', '[Content_Types].xml', 'META-INF/container.xml'])
  const parts = await unzip(bytes, (name) => tell.has(name), { bytes: 4_000_000 })
  const text = (name: string) => new TextDecoder().decode(parts.get(name)).trim()
  const mimetype = text('mimetype')
  const types = text('[Content_Types].xml')
  if (mimetype.startsWith('application/vnd.oasis.opendocument.text')) return 'odt'
  if (mimetype.startsWith('application/vnd.oasis.opendocument.presentation')) return 'odp'
  if (
    /(wordprocessingml\.(document|template)\.main|ms-word\.(document|template)\.macroEnabled\w*\.main)\+xml/i.test(
      types,
    )
  )
    return 'docx'
  if (/(presentationml\.(presentation|slideshow|template)|ms-powerpoint\.\w+\.macroEnabled\w*)\.main\+xml/i.test(types))
    return 'pptx'
  if (mimetype === 'application/epub+zip' || (mimetype === '' && parts.has('META-INF/container.xml'))) return 'epub'
  throw new Unreadable()
}

/** The format of a compound file by its streams. */
const contained = (bytes: Uint8Array): Format | SlideFormat => {
  const paths = new Set(openCompound(bytes).paths)
  if (paths.has('WordDocument')) return 'doc'
  if (paths.has('PowerPoint Document')) return 'ppt'
  if (paths.has('__properties_version1.0')) return 'msg'
  throw new Unreadable()
}
