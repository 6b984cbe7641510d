import * as v from 'valibot'
import { BadRequest } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'

/** In bytes: the largest file. */
const most = 10 * 1024 * 1024
/** In characters: the longest base64 text, with line breaks and the header of a data URL. */
const mostContent = Math.ceil(most * 1.4)
/** In bytes of JSON: the longest escape of one character. */
const mostEscaped = 6

const mimeType = /^\s*([a-z0-9][\w!#$&^.+-]{0,63}\/[\w!#$&^.+-]{1,63})\s*(?:;[^\r\n]{0,200})?$/i

const params = v.object({
  fileName: v.pipe(v.string(), v.maxLength(1_000)),
  fileExtension: v.pipe(v.string(), v.maxLength(32)),
  fileContent: v.pipe(v.string(), v.maxLength(mostContent)),
  mimeType: v.pipe(v.string(), v.regex(mimeType)),
})

export default plugin({
  port: Tool,
  name: 'createFileForUser',
  create: (): Tool<typeof params> => ({
    name: 'createFileForUser',
    description:
      'Makes a file of at most 10 MiB for the user. The content is text and is stored as UTF-8; for a binary MIME type ' +
      '(image, audio, video, archive, office document, …) it may be base64 or a base64 data URL, which is decoded. ' +
      'Nothing is converted: the content must already be in the format that the MIME type names.',
    kind: 'makes-file',
    params,
    mostParams: mostEscaped * mostContent + 16 * 1024,
    async run({ fileName, fileExtension, fileContent, mimeType: type }, signal) {
      signal.throwIfAborted()
      const mime = (mimeType.exec(type)?.[1] ?? '').toLowerCase()
      const bytes = (isText(mime) ? null : decoded(fileContent)) ?? Buffer.from(fileContent, 'utf8')
      if (bytes.length > most) {
        throw new BadRequest('The file would be too large', { validator: { fileContent: 'Expected at most 10 MiB' } })
      }
      return { name: nameOf(fileName, fileExtension), mime, bytes }
    },
  }),
})

const textual = [
  /^text\/|[+/](json|xml|yaml)$/,
  /^application\/(javascript|ecmascript|typescript|ndjson|jsonl|toml|sql|graphql|rtf|mbox|x-pem-file)$/,
  /^application\/x-(\w*sh|\w*script|python|ruby|perl|php|httpd-php|sql|yaml|toml|tex|ndjson|subrip)$/,
]

const isText = (mime: string): boolean => textual.some((kind) => kind.test(mime))

/** The bytes of base64 or of a data URL; null for any other text. */
const decoded = (content: string): Uint8Array | null => {
  const data = content
    .replace(/^\s*data:[^,]{0,200};base64,/i, '')
    .trim()
    .replace(/\r?\n/g, '')
  if (data === '' || data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return null
  return Buffer.from(data, 'base64')
}

/** In bytes: the longest file name. */
const longest = 200

const nameOf = (fileName: string, fileExtension: string): string => {
  const extension = trimmed(fileExtension.replace(/[^A-Za-z0-9._+-]/g, '')).slice(0, 16)
  const ending = extension === '' ? '' : `.${extension}`
  const last = cleaned(fileName.split(/[\\/]/).at(-1) ?? '')
  const stem = fitted(trimmed(without(last, ending)), longest - Buffer.byteLength(ending))
  return `${stem === '' ? 'file' : reserved.test(stem) ? `_${stem}` : stem}${ending}`
}

/** Removes characters that a file system misreads, or that reverse the displayed order of a name. */
const cleaned = (name: string): string =>
  name
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/gu, '')
    .replace(/[<>:"|?*]/g, '_')

const without = (name: string, ending: string): string =>
  ending !== '' && name.toLowerCase().endsWith(ending.toLowerCase())
    ? without(name.slice(0, -ending.length), ending)
    : name

/** A leading dot hides a file, and a trailing dot is lost. */
const trimmed = (name: string): string => name.replace(/^[\s.]+|[\s.]+$/g, '')

/** Names of devices, with or without an extension. */
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i

const fitted = (name: string, bytes: number): string => {
  if (Buffer.byteLength(name) <= bytes) return name
  let kept = ''
  let length = 0
  for (const character of name) {
    length += Buffer.byteLength(character)
    if (length > bytes) break
    kept += character
  }
  return trimmed(kept)
}
