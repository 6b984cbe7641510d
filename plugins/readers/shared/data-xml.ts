import { Unreadable } from '../../../core/errors.ts'
import { optionalPackage } from '../../../core/optional-package.ts'

/**
 * Reads XML as a value. An element is its text, or an object with its `@attributes` and its child elements by name.
 * Repeated names become a list, and mixed content stands in order under `#`. A DOCTYPE that only names a type is
 * dropped. Throws when the text is not XML, and Unreadable when it declares an entity or a type.
 */
export const parseXml = async (whole: string): Promise<unknown> => {
  const begins = afterProlog(whole)
  const type = namedType.exec(whole.slice(begins))
  const text = type ? whole.slice(0, begins) + whole.slice(begins + type[0].length) : whole
  if (declares(text)) throw new Unreadable()
  const { XMLParser } = await optionalPackage('fast-xml-parser', () => import('fast-xml-parser'))
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    cdataPropName: '#cdata',
    // The library refuses element names that every object has as a member, and marks an empty element twice.
    transformTagName: (name) => `:${name}`,
    ignoreDeclaration: true,
    ignorePiTags: true,
    processEntities: false,
    parseTagValue: false,
    trimValues: false,
    maxNestedTags: 500,
  })
  return valueOf(parser.parse(text, true) as readonly Node[], {})
}

type Node = Readonly<Record<string, unknown>>

/** A DOCTYPE that declares nothing inside. */
const namedType = /^<!DOCTYPE\s[^<>[\]]{0,2000}>/i

/**
 * The position after blanks, comments and instructions. A single pattern would overflow on long ones, so a loop walks
 * them.
 */
const afterProlog = (text: string): number => {
  const said = /\S/g
  for (let at = 0; ;) {
    said.lastIndex = at
    at = said.exec(text)?.index ?? text.length
    const [open, close] = text.startsWith('<!--', at) ? ['<!--', '-->'] : ['<?', '?>']
    const end = text.startsWith(open, at) ? text.indexOf(close, at + open.length) : -1
    if (end < 0) return at
    at = end + close.length
  }
}

/** True for a declaration at any place, since the library obeys it everywhere. */
const declares = (text: string): boolean => {
  for (let at = text.indexOf('<!'); at >= 0; at = text.indexOf('<!', at)) {
    const end = text.startsWith('<!--', at) ? '-->' : text.startsWith('<![CDATA[', at) ? ']]>' : null
    if (!end) return true
    const closed = text.indexOf(end, at + 4)
    if (closed < 0) return false
    at = closed
  }
  return false
}

const valueOf = (nodes: readonly Node[], attributes: Readonly<Record<string, unknown>>): unknown => {
  const parts = nodes.flatMap(partOf)
  const own = Object.entries(attributes).map(([name, value]) => [name, decoded(String(value))] as const)
  const elements = parts.filter((part) => part.name !== null)
  const text = parts.map(({ name, value }) => (name === null ? String(value) : '')).join('')
  if (elements.length === 0 && own.length === 0) return text.trim() === '' ? null : text.trim()
  if (elements.length > 0 && text.trim() !== '') {
    const mixed = parts.map(({ name, value }) => (name === null ? value : Object.fromEntries([[name, value]])))
    return Object.fromEntries([...own, ['#', mixed]])
  }
  const byName = new Map<string, unknown[]>()
  for (const { name, value } of elements) {
    const found = byName.get(name!)
    if (found) found.push(value)
    else byName.set(name!, [value])
  }
  const children = Array.from(byName, ([name, values]) => [name, values.length === 1 ? values[0] : values] as const)
  return Object.fromEntries([...own, ...children, ...(text.trim() === '' ? [] : [['#', text.trim()] as const])])
}

/** An element by its name, or a piece of text. */
const partOf = (node: Node): readonly { readonly name: string | null; readonly value: unknown }[] => {
  if ('#text' in node) return [{ name: null, value: decoded(String(node['#text'])) }]
  if ('#cdata' in node)
    return (node['#cdata'] as readonly Node[]).map((it) => ({ name: null, value: it['#text'] ?? '' }))
  const key = Object.keys(node).find((name) => name !== ':@')
  if (key === undefined) return []
  const attributes = (node[':@'] ?? {}) as Readonly<Record<string, unknown>>
  return [{ name: key.replace(/^:+/, ''), value: valueOf(node[key] as readonly Node[], attributes) }]
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

export const decoded = (text: string): string =>
  text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi, (whole, hex, decimal, name: string) => {
    if (name) return named[name] ?? whole
    const code = hex ? parseInt(hex as string, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
