import * as v from 'valibot'
import { freeTurn } from '../../core/dialects/loop-time.ts'
import { BadRequest } from '../../core/errors.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Tool } from '../../core/ports/tool.ts'
import type { Refusal } from './createFileForUser/content.ts'
import type { Format } from './createFileForUser/formats.ts'
import type { MakeJob, MakeOutcome } from './createFileForUser/make-job.ts'

const running = lazy(() => import('../shared/run-apart.ts'))
const formats = lazy(() => import('./createFileForUser/formats.ts'))
const fileHeads = lazy(() => import('./createFileForUser/file-heads.ts'))

/** In bytes: the largest file. */
const mostFileBytes = 10 * 1024 * 1024
/** In characters: the longest base64 text, with line breaks and the header of a data URL. */
const mostContent = Math.ceil(mostFileBytes * 1.4)
/** In bytes of JSON: the longest escape of one character. */
const mostEscaped = 6

const mimeType = /^\s{0,40}([a-z0-9][\w!#$&^.+-]{0,63}\/[\w!#$&^.+-]{1,63})\s{0,40}(?:;[^\r\n]{0,200})?$/i

const params = v.object({
  fileName: v.pipe(v.string(), v.maxLength(1_000), v.description('With or without its extension')),
  fileExtension: v.pipe(v.string(), v.maxLength(32), v.description('Such as docx, xlsx, pptx, pdf, md or csv')),
  fileContent: v.pipe(v.string(), v.maxLength(mostContent), v.description('Text, or base64 of a binary type')),
  mimeType: v.pipe(v.string(), v.regex(mimeType), v.description('The type of the file that is made')),
  contentFormat: v.optional(
    v.pipe(
      v.picklist(['markdown', 'csv']),
      v.description('What fileContent is written in; Markdown when absent, and CSV for an xlsx without a table in it'),
    ),
  ),
})

export default plugin({
  port: Tool,
  name: 'createFileForUser',
  create: (): Tool<typeof params> => ({
    name: 'createFileForUser',
    description:
      'Makes a file of at most 10 MiB. A docx, xlsx, pptx or pdf is made of Markdown or CSV: ' +
      'headings name sheets and begin slides, tables become tables, formulas stay text. A pdf takes Western letters only. ' +
      'Content of a text type is stored as it stands; that of other binary types is base64 or a data URL.',
    kind: 'makes-file',
    params,
    mostParams: mostEscaped * mostContent + 16 * 1024,
    async run({ fileName, fileExtension, fileContent, mimeType: type, contentFormat }, signal) {
      signal.throwIfAborted()
      if (fileContent.trim() === '') throw unfit('Expected content: an empty file has nothing to read')
      const mime = (mimeType.exec(type)?.[1] ?? '').toLowerCase()
      const { formatOf, mimes } = await formats()
      const format = formatOf(fileExtension, mime)
      if (contentFormat === undefined) {
        const bytes = await storedAs(format === null ? mime : mimes[format], fileContent, format !== null)
        if (bytes !== null) return { name: nameOf(fileName, fileExtension), mime, bytes: bounded(bytes) }
      }
      const wanted = formatAsked(format)
      const written = contentFormat ?? writtenIn(wanted, fileContent)
      const bytes = await converted({ format: wanted, written, content: fileContent }, signal)
      return { name: nameOf(fileName, wanted), mime: mimes[wanted], bytes: bounded(bytes) }
    },
  }),
})

/** The bytes of content that needs no conversion; null for a text of which a file is made. Throws BadRequest. */
const storedAs = async (mime: string, content: string, isMade: boolean): Promise<Uint8Array | null> => {
  if (isText(mime)) return Buffer.from(content, 'utf8')
  const { beginsAs, isBinary } = await fileHeads()
  const bytes = await decoded(content)
  if (bytes !== null && beginsAs(mime, bytes)) return bytes
  if (isMade && (bytes === null || shortWords.test(content))) return null
  if (isBinary(mime)) throw unfit(`Expected the bytes of such a file in base64${isMade ? ', or text' : ''}`)
  return Buffer.from(content, 'utf8')
}

/** A word such as `Done` is base64 by its letters, and no file is that short. */
const shortWords = /^[A-Za-z0-9+/\s]{1,64}$/

/** A workbook is made of rows, unless the text has headings or a table of Markdown. */
const writtenIn = (format: Format, content: string): 'markdown' | 'csv' =>
  format === 'xlsx' && !/^[ \t]*(\||#{1,6} )/m.test(content) ? 'csv' : 'markdown'

/** Throws BadRequest. The bound holds for the made file and not for the text, since formats grow. */
const bounded = (bytes: Uint8Array): Uint8Array => {
  if (bytes.length <= mostFileBytes) return bytes
  throw new BadRequest('The file would be too large', { validator: { fileContent: 'Expected at most 10 MiB' } })
}

/** Throws BadRequest where name and type do not agree on a format that can be made. */
const formatAsked = (format: Format | null): Format => {
  if (format !== null) return format
  const fault = 'Expected docx, xlsx, pptx or pdf, and the MIME type of the same, where contentFormat is given'
  throw new BadRequest('No such conversion', { validator: { fileExtension: fault } })
}

/** Characters of a text that becomes another format. */
const mostConverted = 1_000_000

/** A process of its own makes the file within 30 s: the text comes from a model and may be hostile. */
const converted = async (job: MakeJob, signal: AbortSignal): Promise<Uint8Array> => {
  if (job.content.length > mostConverted) throw unfit('Expected at most 1,000,000 characters')
  const { runApart } = await running()
  const made = await runApart<MakeOutcome>('tools/createFileForUser/make-job', job, signal, { time: 30_000 })
  if (made.kind === 'made') return made.bytes
  throw unfit(reasons[made.why])
}

const unfit = (fault: string): BadRequest =>
  new BadRequest('The content does not fit into such a file', { validator: { fileContent: fault } })

const reasons: Readonly<Record<Refusal, string>> = {
  characters: 'Expected characters of Windows-1252 for a pdf: a docx takes all others',
  columns: 'Expected tables of at most 16,384 columns in an xlsx, 63 in a docx, 25 in a pptx and 20 in a pdf',
  cells: 'Expected at most 200,000 cells in tables',
  'long-cell': 'Expected at most 32,767 characters in a cell of an xlsx',
  sheets: 'Expected at most 200 headings with something under them for the sheets of an xlsx',
  blocks: 'Expected at most 50,000 paragraphs, 1,000 slides of a pptx and 2,000 pages of a pdf',
}

/** Types whose content is stored as it stands, even where it looks like base64. */
const textual = [
  /^text\/|[+/](json|xml|yaml)$/,
  /^application\/(javascript|ecmascript|typescript|ndjson|jsonl|toml|sql|graphql|rtf|mbox|x-pem-file)$/,
  /^application\/x-(\w*sh|\w*script|python|ruby|perl|php|httpd-php|sql|yaml|toml|tex|ndjson|subrip)$/,
]

const isText = (mime: string): boolean => textual.some((kind) => kind.test(mime))

/** Characters of base64 that one turn of the loop reads. */
const atOnce = 256 * 1024

/** The bytes of base64 or of a data URL; null for any other text. */
const decoded = async (content: string): Promise<Uint8Array | null> => {
  const letters = content.replace(/^\s*data:[^,]{0,200};base64,/i, '').trim()
  let data = ''
  for (let at = 0; at < letters.length;) {
    const end = letters[at + atOnce] === '\n' ? at + atOnce + 1 : at + atOnce
    const part = letters.slice(at, end).replace(/\r?\n/g, '')
    if (!/^[A-Za-z0-9+/=]*$/.test(part)) return null
    data += part
    at = end
    if (at < letters.length) await freeTurn()
  }
  const padding = data.indexOf('=')
  if (data === '' || data.length % 4 !== 0 || (padding >= 0 && !/^={1,2}$/.test(data.slice(padding)))) return null
  return Buffer.from(data, 'base64')
}

/** In bytes: the longest file name. */
const longestNameBytes = 200

/** Never empty, never a path, and never a device of Windows. */
const nameOf = (fileName: string, fileExtension: string): string => {
  const extension = trimmed(fileExtension.replace(/[^A-Za-z0-9._+-]/g, '')).slice(0, 16)
  const ending = extension === '' ? '' : `.${extension}`
  const last = cleaned(fileName.split(/[\\/]/).at(-1) ?? '')
  const stem = fittedName(trimmed(without(last, ending)), longestNameBytes - Buffer.byteLength(ending))
  return `${stem === '' ? 'file' : reserved.test(stem) ? `_${stem}` : stem}${ending}`
}

/** Removes characters that a file system misreads, or that reverse the displayed order of a name. */
const cleaned = (name: string): string =>
  name
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/gu, '')
    .replace(/[<>:"|?*]/g, '_')

/** Removes the ending as often as it stands there, so that no name ends in `.pdf.pdf`. */
const without = (name: string, ending: string): string =>
  ending !== '' && name.toLowerCase().endsWith(ending.toLowerCase())
    ? without(name.slice(0, -ending.length), ending)
    : name

/** A leading dot hides a file, and a trailing dot is lost. */
const trimmed = (name: string): string => name.replace(/^[\s.]+|[\s.]+$/g, '')

/** Names of devices, with or without an extension. */
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i

/** Cuts between characters, never within one. */
const fittedName = (name: string, bytes: number): string => {
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
