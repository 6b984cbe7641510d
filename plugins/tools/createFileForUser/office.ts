import { crc32, deflateRawSync } from 'node:zlib'

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const schemas = 'http://schemas.openxmlformats.org'
const relationship = `${schemas}/officeDocument/2006/relationships`

/** Of ECMA-376 in its transitional form, which all office programs read. */
export const namespaces = {
  w: `${schemas}/wordprocessingml/2006/main`,
  x: `${schemas}/spreadsheetml/2006/main`,
  p: `${schemas}/presentationml/2006/main`,
  a: `${schemas}/drawingml/2006/main`,
  r: relationship,
} as const

/** For text and for attributes in double quotes. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? '&quot;')

/** One XML file within the package. */
export interface Part {
  /** From the root, without a slash. */
  readonly name: string
  /** Such as `wordprocessingml.document.main`; the whole type where it has a slash. */
  readonly type: string
  readonly content: string
  readonly links?: readonly Link[]
}

/** A relationship of a part; its id is named within the part's XML. */
export interface Link {
  readonly id: string
  /** The last word of its type, such as `styles`. */
  readonly kind: string
  readonly target: string
  readonly outside?: true
}

/** The bytes of an Office file. Its properties tell its title alone: no author, no time. */
export const officeFile = (main: string, title: string | null, parts: readonly Part[]): Uint8Array => {
  const core = 'docProps/core.xml'
  const all = [...parts, { name: core, type: 'application/vnd.openxmlformats-package.core-properties+xml' }]
  const types = all.map(({ name, type }) => `<Override PartName="/${name}" ContentType="${typeOf(type)}"/>`)
  const roots = [
    { id: 'rId1', kind: 'officeDocument', target: main },
    { id: 'rId2', kind: 'core-properties', target: core },
  ]
  return archiveOf({
    '[Content_Types].xml': `${head}<Types xmlns="${schemas}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${types.join('')}</Types>`,
    '_rels/.rels': linksOf(roots),
    ...Object.fromEntries(
      parts.flatMap(({ name, content, links }) => [
        [name, head + content],
        ...(links === undefined ? [] : [[name.replace(/([^/]+)$/, '_rels/$1.rels'), linksOf(links)]]),
      ]),
    ),
    [core]: `${head}<cp:coreProperties xmlns:cp="${schemas}/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${escaped(title ?? '')}</dc:title></cp:coreProperties>`,
  })
}

const typeOf = (type: string): string =>
  type.includes('/') ? type : `application/vnd.openxmlformats-officedocument.${type}+xml`

/** Relationships to core properties have a type of their own; all others share one stem. */
const linksOf = (links: readonly Link[]): string => {
  const each = links.map(({ id, kind, target, outside }) => {
    const type =
      kind === 'core-properties' ? `${schemas}/package/2006/relationships/metadata/${kind}` : `${relationship}/${kind}`
    return `<Relationship Id="${id}" Type="${type}" Target="${escaped(target)}"${outside ? ' TargetMode="External"' : ''}/>`
  })
  return `${head}<Relationships xmlns="${schemas}/package/2006/relationships">${each.join('')}</Relationships>`
}

/** The first day that an archive can tell: what is made of the same content is the same to the byte. */
const day = 0x21

/** A zip of these files, by their names, in their order. */
const archiveOf = (files: Readonly<Record<string, string>>): Uint8Array => {
  const pieces: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content, 'utf8')
    const label = Buffer.from(name, 'utf8')
    const packed = deflateRawSync(bytes)
    const facts = factsOf(bytes, packed, label)
    pieces.push(record(0x04034b50, facts), label, packed)
    // No comment, one disk, no attributes; where the file begins.
    directory.push(record(0x02014b50, [[20, 2], ...facts, [0, 6], [0, 4], [offset, 4]]), label)
    offset += 30 + label.length + packed.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const count = Object.keys(files).length
  const end = record(0x06054b50, [[0, 4], [count, 2], [count, 2], [size, 4], [offset, 4], [0, 2]]) // prettier-ignore
  return Buffer.concat([...pieces, ...directory, end])
}

/** Numbers with the bytes that each takes. */
type SizedNumbers = readonly (readonly [value: number, bytes: number])[]

/** The fields that a file's own record shares with its record in the directory. */
const factsOf = (bytes: Uint8Array, packed: Uint8Array, label: Uint8Array): SizedNumbers => [
  // The version that unpacks it, names in UTF-8, deflated, no time.
  ...([[20, 2], [0x800, 2], [8, 2], [0, 2], [day, 2]] as const), // prettier-ignore
  ...([[crc32(bytes), 4], [packed.length, 4], [bytes.length, 4], [label.length, 2], [0, 2]] as const), // prettier-ignore
]

/** Numbers in little-endian order behind the record's sign, as the zip format (APPNOTE) has them. */
const record = (sign: number, fields: SizedNumbers): Uint8Array => {
  const all: SizedNumbers = [[sign, 4], ...fields]
  const bytes = Buffer.alloc(all.reduce((sum, [, length]) => sum + length, 0))
  let at = 0
  for (const [value, length] of all) at = bytes.writeUIntLE(value, at, length)
  return bytes
}
