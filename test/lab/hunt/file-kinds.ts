import { readFile } from 'node:fs/promises'
import type { FileToRead } from '../../../core/ports/reader.ts'
import { wavOf } from '../../../plugins/shared/sounds/wav.ts'
import { type Chance, boxed, damaged, damagedArchive } from './damage.ts'
import { type Parser, data, documents, pages, pictures, sheets, slides, sounds, videos } from './file-parsers.ts'

export interface Kind {
  readonly name: string
  readonly parser: Parser
  /** A file of this kind without damage. */
  whole(): Promise<Uint8Array>
  /** A file of this kind with something wrong in it. */
  make(chance: Chance): Promise<Uint8Array>
}

/** A file under a name of its kind. */
export const fileOf = ({ name }: Kind, bytes: Uint8Array): FileToRead => ({ name: `a.${name}`, mime: '', bytes })

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
  msg: 'msg/harvest.msg',
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

const archive = (name: string, parser: Parser): Kind => ({
  name,
  parser,
  whole: () => source(name),
  make: async (chance) => damagedArchive(await source(name), chance),
})

const plain = (name: string, parser: Parser): Kind => ({
  name,
  parser,
  whole: () => source(name),
  make: async (chance) => damaged(await source(name), chance, name === 'png'),
})

const boxes: Kind = {
  name: 'zip',
  parser: documents,
  whole: () => source('docx'),
  make: async (chance) => boxed(await source(['docx', 'odt', 'epub'][chance(3)]!), chance),
}

/** A file's seed comes from the place of its kind: another kind is added at the end. */
export const kinds: readonly Kind[] = [
  archive('docx', documents),
  archive('xlsx', sheets),
  archive('pptx', slides),
  archive('epub', documents),
  archive('odt', documents),
  boxes,
  plain('png', pictures),
  plain('gif', pictures),
  plain('webp', pictures),
  plain('tiff', pictures),
  plain('mp4', videos),
  plain('parquet', data),
  plain('doc', documents),
  plain('ppt', slides),
  plain('pdf', pages),
  plain('xls', sheets),
  archive('ods', sheets),
  archive('odp', slides),
  plain('rtf', documents),
  plain('html', documents),
  plain('eml', documents),
  plain('csv', sheets),
  plain('json', data),
  plain('xml', data),
  plain('yaml', data),
  plain('toml', data),
  plain('jpeg', pictures),
  plain('bmp', pictures),
  plain('mp3', sounds),
  plain('ogg', sounds),
  plain('wav', sounds),
  plain('msg', documents),
]
