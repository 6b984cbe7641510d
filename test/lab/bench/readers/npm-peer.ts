import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Prints the text that a package of npm makes of a file: `npm-peer.js FOLDER PACKAGE FILE`. */
const [folder = '', name = '', path = ''] = process.argv.slice(2)
const near = createRequire(join(folder, 'peers.js'))
const bytes = readFileSync(path)

// The packages have no types here; each answer is only printed.
const load = async (): Promise<any> => import(pathToFileURL(near.resolve(name)).href)

/** A date as ISO 8601: the name that JavaScript prints of it is that of no cell, and holds a time zone. */
const momentIn = ({ value }: { value?: any }): string | null => {
  const moment = value?.result ?? value
  return moment instanceof Date && !Number.isNaN(moment.getTime()) ? moment.toISOString().slice(0, 19) : null
}

const people = (all: readonly any[]): string =>
  all.map(({ name, address }) => `${name ?? ''} <${address ?? ''}>`).join(', ')

/** The lines above a mail; absent ones are left out. */
const headLines = (heads: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.entries(heads).flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []))

const texts: Readonly<Record<string, () => Promise<string>>> = {
  async mammoth() {
    return (await load()).default.extractRawText({ buffer: bytes }).then(({ value }: { value: string }) => value)
  },
  async officeparser() {
    const parsed = await (await load()).parseOffice(path)
    return (await parsed.to('text')).value.replace(/\[Image: [^\]]*\]/g, '')
  },
  async 'word-extractor'() {
    const document = await new (await load()).default().extract(bytes)
    const parts = ['Headers', 'Body', 'Footnotes', 'Endnotes', 'Annotations', 'Textboxes']
    return parts.map((part) => document[`get${part}`]()).join('\n')
  },
  async exceljs() {
    const book = new (await load()).default.Workbook()
    await book.xlsx.load(bytes)
    const lines: string[] = []
    for (const sheet of book.worksheets) {
      lines.push(sheet.name)
      sheet.eachRow((row: any) => {
        const cells: string[] = []
        row.eachCell((cell: any) => cells.push(momentIn(cell) ?? cell.text))
        lines.push(cells.join('\t'))
      })
    }
    return lines.join('\n')
  },
  async 'node-pptx-parser'() {
    const slides = await new (await load()).default.default(path).extractText()
    return slides.map((slide: { text: readonly string[] }) => slide.text.join('\n')).join('\n')
  },
  async '@kenjiuno/msgreader'() {
    const mail = new (await load()).default.default(Uint8Array.from(bytes).buffer).getFileData()
    const { subject, senderName, senderSmtpAddress, senderEmail, recipients = [], body, attachments = [] } = mail
    const date = mail.clientSubmitTime && new Date(mail.clientSubmitTime).toISOString().slice(0, 19)
    const to = (kind: string) =>
      people(
        recipients
          .filter((value: any) => (value.recipType ?? 'to') === kind)
          .map(({ name, smtpAddress, email }: any) => ({ name, address: smtpAddress ?? email })),
      )
    const from = people([{ name: senderName, address: senderSmtpAddress ?? senderEmail }])
    const files = attachments.map(({ fileName }: { fileName?: string }) => fileName ?? '')
    return [
      ...headLines({ From: from, To: to('to'), Cc: to('cc'), Bcc: to('bcc'), Date: date, Subject: subject }),
      body,
      ...files,
    ].join('\n')
  },
  async 'postal-mime'() {
    const { subject, from, to = [], cc = [], text } = await (await load()).default.parse(bytes)
    const heads = { From: people(from ? [from] : []), To: people(to), Cc: people(cc), Subject: subject }
    return [...headLines(heads), text].join('\n')
  },
}

const text = await texts[name]!()
process.stdout.write(text, () => process.exit(0))
