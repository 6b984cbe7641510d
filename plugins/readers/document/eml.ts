import { Unreadable } from '../../../core/errors.ts'
import { decodeBytes } from '../../shared/charset.ts'
import { documentWriter, type DocumentWriter, type WrittenDocument } from '../shared/document-writing.ts'
import { type Entity, entityOf, partsOf } from './eml-entity.ts'
import { writeHtml } from './html.ts'
import { writeAttachments, writeHeads, writeLines } from './mail-heads.ts'

/** Mails within mails within mails: more depth is an attack. */
const mostDepth = 20
/** Parts of one mail with all mails inside of it. */
const mostParts = 1_000

/** Reads a mail: its heads, its text, the names of its attachments. Of alternatives the plain one counts. */
export const readEml = async (bytes: Uint8Array): Promise<WrittenDocument> => {
  const writing = documentWriter()
  await writeMail({ writing, left: { parts: mostParts } }, Buffer.from(bytes), 0)
  return writing.finish()
}

/** `left` counts down over all nested mails, so that no mail can multiply its parts. */
interface Reading {
  readonly writing: DocumentWriter
  readonly left: { parts: number }
}

const writeMail = async (reading: Reading, bytes: Buffer, depth: number): Promise<void> => {
  const mail = entityOf(bytes)
  if (!mail.head('from') && !mail.head('subject') && !mail.head('received')) throw new Unreadable()
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
    const chosen = entity.type === 'multipart/alternative' ? chosenOf(parts) : parts
    for (const part of chosen) await writeEntity(reading, part, files, depth + 1)
  } else if (entity.isAttached) files.push(entity.name)
  else if (entity.type === 'message/rfc822') await writeMail(reading, entity.content(), depth + 1)
  else if (entity.type === 'text/html') await writeHtml(writing, textOf(entity, 'page'))
  else if (entity.type.startsWith('text/')) writeLines(writing, textOf(entity, 'text'))
  else if (entity.name !== '') files.push(entity.name)
}

/** The first plain part with text; else the last part, which RFC 2046 calls the best. */
const chosenOf = (parts: readonly Entity[]): readonly Entity[] => {
  const isSaid = (part: Entity) => part.type === 'text/plain' && part.content().toString('latin1').trim() !== ''
  return [parts.find(isSaid) ?? parts.at(-1)].flatMap((part) => part ?? [])
}

const textOf = (entity: Entity, kind: 'page' | 'text'): string =>
  decodeBytes(entity.content(), entity.charset === '' ? '' : `text/plain;charset=${entity.charset}`, kind).text
