import type { DocumentWriter } from '../shared/document-writing.ts'

const names = { from: 'From', to: 'To', cc: 'Cc', bcc: 'Bcc', date: 'Date', subject: 'Subject' } as const

/** What stands above the text of a mail; absent lines are left out. */
type MailHeads = Readonly<Partial<Record<keyof typeof names, string>>>

/** Writes the lines above a mail. The subject is the title of the document. */
export const writeHeads = (writing: DocumentWriter, heads: MailHeads): void => {
  if (heads.subject) writing.title(heads.subject)
  for (const [head, name] of Object.entries(names)) {
    const value = heads[head as keyof MailHeads]?.replace(/\s+/g, ' ').trim()
    if (!value) continue
    writing.say(`${name}: ${value}`)
    writing.end()
  }
}

/** Each line becomes a paragraph, since the lines of a plain mail have meaning. */
export const writeLines = (writing: DocumentWriter, text: string): void => {
  for (const line of text.split(/\r\n|\r|\n/)) {
    writing.say(line)
    writing.end()
  }
}

/** Names of attachments stand behind the text, so that a search finds the mail by them. */
export const writeAttachments = (writing: DocumentWriter, files: readonly string[]): void => {
  for (const file of files) {
    writing.say(`Attachment: ${file}`)
    writing.end()
  }
}
