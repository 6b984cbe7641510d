import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Format, folder, type Sampled } from './documents.ts'
import { officeTexts } from './office.ts'
import { printed } from './program.ts'

/** Reads files in its own way; null for one that it can't read. */
export type Peer = (files: readonly Sampled[], format: Format) => Promise<readonly (string | null)[]>

const oneByOne =
  (read: (path: string, format: Format) => Promise<string | null>): Peer =>
  async (files, format) => {
    const texts: (string | null)[] = []
    for (const { path } of files) texts.push(await read(path, format))
    return texts
  }

/** A program of Debian that prints the text of a file. */
const program = (name: string, ...given: readonly string[]): Peer =>
  oneByOne((path) => {
    const all = given.includes('FILE') ? given : [...given, 'FILE']
    return printed(
      name,
      all.map((text) => (text === 'FILE' ? path : text)),
    )
  })

const packages = {
  mammoth: '1.13.0',
  officeparser: '8.1.1',
  'word-extractor': '1.0.4',
  exceljs: '4.4.0',
  'node-pptx-parser': '1.0.1',
  '@kenjiuno/msgreader': '1.28.0',
  'postal-mime': '4.0.0',
}

/** A package of npm that makes the text of a file, in a process of its own. */
const npm = (name: keyof typeof packages): Peer =>
  oneByOne((path) =>
    printed(process.execPath, [fileURLToPath(import.meta.resolve('./npm-peer.js')), installed(), name, path]),
  )

const sheetsByOpenpyxl = [
  'import sys, openpyxl',
  'book = openpyxl.load_workbook(sys.argv[1], data_only=True)',
  'for sheet in book.worksheets:',
  '  print(sheet.title)',
  '  for row in sheet.iter_rows(values_only=True):',
  '    print("\\t".join("" if cell is None else str(cell) for cell in row))',
].join('\n')

/** A mail by Python, with its date as an expression prints it. */
const mailByPython = (date: string): string =>
  [
    'import sys, email, email.policy, datetime',
    'mail = email.message_from_binary_file(open(sys.argv[1], "rb"), policy=email.policy.default)',
    'for name in ("From", "To", "Cc", "Bcc", "Date", "Subject"):',
    `  if mail[name]: print(name + ":", ${date} if name == "Date" else mail[name])`,
    'body = mail.get_body(preferencelist=("plain", "html"))',
    'print(body.get_content() if body else "")',
  ].join('\n')

/** A .msg holds its date as a number, and each program has a form of its own for it. */
const utc = 'mail[name].datetime.astimezone(datetime.timezone.utc).isoformat()[:19]'

const pandoc = oneByOne((path, format) => printed('pandoc', ['-f', format, '-t', 'plain', '--wrap=none', path]))
const openpyxl = program('/usr/bin/python3', '-c', sheetsByOpenpyxl, 'FILE')
const officeparser = npm('officeparser')

/** The readers that ours are compared with. */
export const peers: Readonly<Record<Format, Readonly<Record<string, Peer>>>> = {
  docx: {
    pandoc,
    LibreOffice: officeTexts,
    mammoth: npm('mammoth'),
    officeparser,
    docx2txt: program('docx2txt', 'FILE', '-'),
  },
  odt: { pandoc, LibreOffice: officeTexts, officeparser, odt2txt: program('odt2txt') },
  rtf: {
    pandoc,
    LibreOffice: officeTexts,
    officeparser,
    unrtf: program('unrtf', '--text', '--nopict'),
    catdoc: program('catdoc', '-d', 'utf-8'),
  },
  pdf: {
    pdftotext: program('pdftotext', 'FILE', '-'),
    mutool: program('mutool', 'draw', '-q', '-F', 'txt', 'FILE'),
    pdfminer: program('pdf2txt'),
    officeparser,
  },
  pptx: { LibreOffice: officeTexts, officeparser, 'node-pptx-parser': npm('node-pptx-parser') },
  odp: { LibreOffice: officeTexts, officeparser, odt2txt: program('odt2txt') },
  xlsx: {
    xlsx2csv: program('xlsx2csv', '-a', 'FILE'),
    openpyxl,
    LibreOffice: officeTexts,
    officeparser,
    exceljs: npm('exceljs'),
  },
  ods: { LibreOffice: officeTexts, officeparser, odt2txt: program('odt2txt') },
  html: {
    pandoc,
    w3m: program('w3m', '-dump', '-T', 'text/html', '-cols', '1000', 'FILE'),
    lynx: program('lynx', '-dump', '-nolist', '-width=1000', '-display_charset=utf-8', 'FILE'),
    html2text: program('html2text', '-utf8', '-width', '1000', 'FILE'),
  },
  epub: { pandoc, mutool: program('mutool', 'draw', '-q', '-F', 'txt', 'FILE'), officeparser },
  doc: {
    LibreOffice: officeTexts,
    catdoc: program('catdoc', '-d', 'utf-8', '-w'),
    antiword: program('antiword', '-m', 'UTF-8.txt', '-w', '0'),
    'word-extractor': npm('word-extractor'),
  },
  ppt: { LibreOffice: officeTexts, catppt: program('catppt', '-d', 'utf-8') },
  xls: { LibreOffice: officeTexts, xls2csv: program('xls2csv', '-d', 'utf-8') },
  msg: {
    msgreader: npm('@kenjiuno/msgreader'),
    // Its program, msgconvert, wants a further package, which its module does without.
    'Outlook::Message': program(
      'sh',
      '-c',
      `perl -MEmail::Outlook::Message -e "$1" "$0" | /usr/bin/python3 -c "$2" /dev/stdin`,
      'FILE',
      'print Email::Outlook::Message->new($ARGV[0])->to_email_mime->as_string',
      mailByPython(utc),
    ),
  },
  eml: {
    'postal-mime': npm('postal-mime'),
    Python: program('/usr/bin/python3', '-c', mailByPython('mail[name]'), 'FILE'),
  },
}

const installed = (): string => {
  const place = join(folder, 'peers')
  if (Object.keys(packages).every((name) => existsSync(join(place, 'node_modules', name)))) return place
  mkdirSync(place, { recursive: true })
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`)
  execFileSync('npm', ['install', '--silent', '--no-save', '--prefix', place, ...wanted], { stdio: 'ignore' })
  return place
}
