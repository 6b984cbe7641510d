import { readFile } from 'node:fs/promises'
import { readDocument } from '../../plugins/readers/document/document.ts'
import { readSlides } from '../../plugins/readers/slides/slides.ts'
import { openImage } from '../../plugins/shared/pictures/image.ts'
import { drawImage } from '../../plugins/shared/pictures/raster-image.ts'
import { readPdf } from '../../plugins/readers/pdf/pdf.ts'
import { wavOf } from '../../plugins/shared/sounds/wav.ts'
import { decodeAudio } from '../../plugins/tools/shared/audio.ts'
import { openVideo } from '../../plugins/tools/videoDescribeAndCaption/video.ts'
import { readData } from '../../plugins/readers/data/data.ts'
import { readSheets } from '../../plugins/readers/spreadsheet/sheets.ts'
import { type Chance, boxed, damaged, damagedArchive } from './damage.ts'

export interface Kind {
  readonly name: string
  /** The sealed tool that reads it. */
  readonly tool: string
  /** A file of this kind with something wrong in it. */
  make(chance: Chance): Promise<Uint8Array>
  /** Reads it without an enclave around. */
  read(bytes: Uint8Array, signal: AbortSignal): Promise<unknown>
}

type Read = (
  file: { readonly name: string; readonly mime: string; readonly bytes: Uint8Array },
  signal: AbortSignal,
) => Promise<unknown>

const sources: Readonly<Record<string, string>> = {
  docx: 'docx/harvest.docx',
  xlsx: 'xlsx/orders-two-sheets.xlsx',
  pptx: 'pptx/orchard.pptx',
  epub: 'epub/harvest.epub',
  odt: 'odt/harvest.odt',
  doc: 'doc/harvest.doc',
  ppt: 'ppt/orchard.ppt',
  png: 'image/order.png',
  gif: 'image/order.gif',
  webp: 'image/order.webp',
  tiff: 'image/two-pages-of-fax.tiff',
  mp4: 'video/eight-colours-with-speech.mp4',
  parquet: 'parquet/orders-snappy.parquet',
  pdf: 'pdf/two-pages-with-headings-and-umlauts.pdf',
  xls: 'xls/rich.xls',
  ods: 'ods/orders-two-sheets.ods',
  odp: 'odp/orchard.odp',
  rtf: 'rtf/harvest.rtf',
  html: 'html/harvest.html',
  csv: 'csv/semicolons-quoted-newline.csv',
  json: 'json/tree.json',
  xml: 'xml/catalog-iso-8859-1.xml',
  yaml: 'yaml/shared-anchors.yaml',
  toml: 'toml/dates.toml',
  jpeg: 'image/order-turned-by-exif.jpg',
  bmp: 'image/order.bmp',
  mp3: 'audio/dialogue-of-three.mp3',
  ogg: 'audio/dialogue-of-two.ogg',
}

/** Kinds that no file of the tests has. */
const written: Readonly<Record<string, Uint8Array>> = {
  // Two seconds that alternate between two values.
  wav: wavOf({ rate: 8_000, channels: 2, bits: 16, samples: Buffer.alloc(64_000, Buffer.from([0, 8, 0, 248])) }),
  eml: Buffer.from(
    [
      'From: =?utf-8?Q?J=C3=BCrgen?= <juergen@example.org>',
      'Subject: =?iso-8859-1?B?R3L832U=?=',
      'Content-Type: multipart/mixed; boundary=outer',
      '',
      '--outer',
      'Content-Type: text/plain; charset=windows-1251',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      '=CF=F0=E8=E2=E5=F2, this line is =',
      'one line.',
      '--outer',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('<p>The <a href="https://example.org/">harvest</a></p>').toString('base64'),
      '--outer--',
      '',
    ].join('\r\n'),
  ),
}

const source = async (kind: string): Promise<Buffer> =>
  Buffer.from(written[kind] ?? (await readFile(`test/vectors/files/${sources[kind]!}`)))

const draw: Read = async ({ bytes }, signal) => drawImage(openImage(bytes), { colours: 'grey', longest: 800 }, signal)
const watch: Read = ({ bytes }, signal) => openVideo(bytes, signal, (video) => video.frames(1))

const readWords: Read = ({ bytes }, signal) => readPdf({ bytes }, signal, { scans: 0 })

const listen: Read = async ({ bytes }, signal) => {
  for await (const block of decodeAudio(bytes).blocks(signal)) if (block.length === 0) break
}

const kind = (name: string, tool: string, read: Read, make: Kind['make']): Kind => ({
  name,
  tool,
  make,
  read: (bytes, signal) => read({ name: `a.${name}`, mime: '', bytes }, signal),
})

const archive = (name: string, tool: string, read: Read): Kind =>
  kind(name, tool, read, async (chance) => damagedArchive(await source(name), chance))

const plain = (name: string, tool: string, read: Read): Kind =>
  kind(name, tool, read, async (chance) => damaged(await source(name), chance, name === 'png'))

export const kinds: readonly Kind[] = [
  archive('docx', 'getTextDocumentContent', readDocument),
  archive('xlsx', 'getSpreadsheetContent', readSheets),
  archive('pptx', 'getPowerPointContent', readSlides),
  archive('epub', 'getTextDocumentContent', readDocument),
  archive('odt', 'getTextDocumentContent', readDocument),
  kind('zip', 'getTextDocumentContent', readDocument, async (chance) =>
    boxed(await source(['docx', 'odt', 'epub'][chance(3)]!), chance),
  ),
  plain('png', 'getFileContentOCR', draw),
  plain('gif', 'getFileContentOCR', draw),
  plain('webp', 'getFileContentOCR', draw),
  plain('tiff', 'getFileContentOCR', draw),
  plain('mp4', 'audioDiarization', watch),
  plain('parquet', 'getDataFileContent', readData),
  plain('doc', 'getTextDocumentContent', readDocument),
  plain('ppt', 'getPowerPointContent', readSlides),
  plain('pdf', 'getPDFContent', readWords),
  plain('xls', 'getSpreadsheetContent', readSheets),
  archive('ods', 'getSpreadsheetContent', readSheets),
  archive('odp', 'getPowerPointContent', readSlides),
  plain('rtf', 'getTextDocumentContent', readDocument),
  plain('html', 'getTextDocumentContent', readDocument),
  plain('eml', 'getTextDocumentContent', readDocument),
  plain('csv', 'getSpreadsheetContent', readSheets),
  plain('json', 'getDataFileContent', readData),
  plain('xml', 'getDataFileContent', readData),
  plain('yaml', 'getDataFileContent', readData),
  plain('toml', 'getDataFileContent', readData),
  plain('jpeg', 'getFileContentOCR', draw),
  plain('bmp', 'getFileContentOCR', draw),
  plain('mp3', 'audioDiarization', listen),
  plain('ogg', 'audioDiarization', listen),
  plain('wav', 'audioDiarization', listen),
]
