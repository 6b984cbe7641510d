import { Unreadable } from '../../../core/errors.ts'
import { decodeBytes } from '../../shared/charset.ts'
import { markedEncoding, wideEncoding } from '../../shared/wide-encoding.ts'
import { documentWriter, type DocumentWriter, type WrittenDocument } from '../shared/document-writing.ts'
import { type Entity, entityOf, partsOf } from './eml-entity.ts'
import { writeHtml } from './html.ts'
import { writeAttachments, writeHeads, writeLines } from './mail-heads.ts'

/** Mails within mails within mails: more depth is an attack. */
const mostDepth = 20
const mailType = 'message/rfc822'
/** Parts of one mail with all mails inside of it. */
const mostParts = 1_000

/** Reads a mail: its heads, its text, the names of its attachments. Of alternatives the plain one counts. */
export const readEml = async (bytes: Uint8Array): Promise<WrittenDocument> => {
  const writing = documentWriter()
  await writeMail({ writing, left: { parts: mostParts }, isRecoded: false }, Buffer.from(bytes), 0)
  return writing.finish()
}

/** `left` counts down over all nested mails, so that no mail can multiply its parts. */
interface Reading {
  readonly writing: DocumentWriter
  readonly left: { parts: number }
  /** True when plain bodies are UTF-8 here, whatever their heads name. */
  readonly isRecoded: boolean
}

const writeMail = async (outer: Reading, bytes: Buffer, depth: number): Promise<void> => {
  const narrow = narrowed(bytes)
  const reading = narrow === null ? outer : { ...outer, isRecoded: true }
  const mail = entityOf(narrow ?? unmarked(bytes))
  if (depth === 0 && !mail.head('from') && !mail.head('subject') && !mail.head('received')) throw new Unreadable()
  const { writing } = reading
  const [from, to, cc, bcc, date, subject] = ['from', 'to', 'cc', 'bcc', 'date', 'subject'].map(mail.head)
  writeHeads(writing, { from: from!, to: to!, cc: cc!, bcc: bcc!, date: date!, subject: subject! })
  const files: string[] = []
  await writeEntity(reading, mail, files, depth)
  writeAttachments(writing, files)
}

const writeEntity = async (reading: Reading, entity: Entity, files: string[], depth: number): Promise<void> => {
  if (depth > mostDepth || --reading.left.parts < 0) throw new Unreadable()
  const { writing } = reading
  if (entity.type.startsWith('multipart/')) {
    const parts = partsOf(entity)
    const chosen = entity.type === 'multipart/alternative' ? chosenOf(reading, parts) : parts
    for (const part of chosen) await writeEntity(reading, part, files, depth + 1)
    for (const part of parts) if (!chosen.includes(part)) nameFiles(reading, part, files, depth + 1)
  } else if (entity.isAttached && (entity.name || entity.type !== mailType)) files.push(entity.name || entity.type)
  else if (entity.type === mailType)
    await writeMail({ ...reading, isRecoded: isRecodedIn(reading, entity) }, entity.content(), depth + 1)
  else if (entity.type === 'text/html') await writeHtml(writing, textOf(reading, entity, 'page'))
  else if (entity.type.startsWith('text/')) writeLines(writing, textOf(reading, entity, 'text'))
  else if (entity.name !== '') files.push(entity.name)
}

/** Adds the files of an alternative that is not read: Apple Mail has them between the texts of the page. */
const nameFiles = (reading: Reading, entity: Entity, files: string[], depth: number, isBetween = false): void => {
  if (depth > mostDepth || --reading.left.parts < 0) throw new Unreadable()
  if (entity.type.startsWith('multipart/')) {
    const isMixed = entity.type === 'multipart/mixed'
    for (const part of partsOf(entity)) nameFiles(reading, part, files, depth + 1, isMixed)
  } else if (entity.isAttached || (isBetween && entity.name !== '' && !entity.type.startsWith('text/')))
    files.push(entity.name || entity.type)
}

/** The first plain part with text; else the last part, which RFC 2046 calls the best. */
const chosenOf = (reading: Reading, parts: readonly Entity[]): readonly Entity[] => {
  const isSaid = (part: Entity) =>
    part.type === 'text/plain' && /[^\s\u200b-\u200d]/.test(textOf(reading, part, 'text'))
  return [parts.find(isSaid) ?? parts.at(-1)].flatMap((part) => part ?? [])
}

const textOf = (reading: Reading, entity: Entity, kind: 'page' | 'text'): string => {
  const charset = isRecodedIn(reading, entity) ? 'utf-8' : entity.charset
  return decodeBytes(entity.content(), charset === '' ? '' : `text/plain;charset=${charset}`, kind).text
}

/** A transfer encoding keeps the bytes of the charset that the part names. */
const isRecodedIn = ({ isRecoded }: Reading, { isCoded }: Entity): boolean => isRecoded && !isCoded

/** A mail that an editor saved as UTF-16 or UTF-32, as UTF-8. Null for other mails. */
const narrowed = (bytes: Buffer): Buffer | null => {
  const wide = markedEncoding(bytes) ?? wideEncoding(bytes)
  return wide === null || wide.name === 'utf-8' ? null : Buffer.from(decodeBytes(bytes, '').text)
}

/** A mark of UTF-8 would belong to the name of the first head. */
const unmarked = (bytes: Buffer): Buffer => (markedEncoding(bytes) === null ? bytes : bytes.subarray(3))
