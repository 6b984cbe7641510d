import { Unreadable } from '../../../core/errors.ts'
import { type XmlElement, xmlElements } from './xml-elements.ts'

/**
 * Reads XML as a value. An element is its text, or an object with its `@attributes` and its child elements by name.
 * Repeated names become a list, and mixed content stands in order under `#`. A DOCTYPE that only names a type is
 * dropped. Throws when the text is not XML, and Unreadable when it declares an entity or a type.
 */
export const parseXml = (whole: string): unknown => {
  const begins = afterProlog(whole)
  const type = namedType.exec(whole.slice(begins))
  const text = type ? whole.slice(0, begins) + whole.slice(begins + type[0].length) : whole
  if (declares(text)) throw new Unreadable()
  const root = xmlElements(text)
  return Object.fromEntries([[root.name, valueOf(root)]])
}

/** A DOCTYPE that declares nothing inside. */
const namedType = /^<!DOCTYPE\s[^<>[\]]{0,2000}>/i

/** The position after blanks, comments and instructions. A loop walks them: a pattern would overflow. */
const afterProlog = (text: string): number => {
  const spoken = /\S/g
  for (let at = 0; ;) {
    spoken.lastIndex = at
    at = spoken.exec(text)?.index ?? text.length
    const [open, close] = text.startsWith('<!--', at) ? ['<!--', '-->'] : ['<?', '?>']
    const end = text.startsWith(open, at) ? text.indexOf(close, at + open.length) : -1
    if (end < 0) return at
    at = end + close.length
  }
}

/** True for a declaration at any place. */
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

/** An element without text, attributes and children is null. */
const valueOf = ({ attributes, content }: XmlElement): unknown => {
  const own = Array.from(attributes, ([name, value]) => [`@${name}`, value] as const)
  const elements = content.filter((part) => typeof part !== 'string')
  const text = content.filter((part) => typeof part === 'string').join('')
  if (elements.length === 0 && own.length === 0) return text.trim() === '' ? null : text.trim()
  if (elements.length > 0 && text.trim() !== '') {
    const mixed = content.map((part) =>
      typeof part === 'string' ? part : Object.fromEntries([[part.name, valueOf(part)]]),
    )
    return Object.fromEntries([...own, ['#', mixed]])
  }
  const byName = new Map<string, unknown[]>()
  for (const element of elements) {
    const found = byName.get(element.name)
    if (found) found.push(valueOf(element))
    else byName.set(element.name, [valueOf(element)])
  }
  const children = Array.from(byName, ([name, values]) => [name, values.length === 1 ? values[0] : values] as const)
  return Object.fromEntries([...own, ...children, ...(text.trim() === '' ? [] : [['#', text.trim()] as const])])
}
