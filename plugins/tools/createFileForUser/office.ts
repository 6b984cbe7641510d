import { archiveOf } from './archive.ts'

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
