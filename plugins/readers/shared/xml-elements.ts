/** An element with its content in order. Text has its references decoded. */
export interface XmlElement {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly content: readonly (XmlElement | string)[]
}

/** Deeper elements are refused. */
const mostDepth = 500

const nameAt = '[\\p{L}_:][\\p{L}\\p{M}\\p{N}_:.\\u00b7-]*'
const opening = new RegExp(`<(${nameAt})`, 'uy')
const attribute = new RegExp(`\\s+(${nameAt})\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'uy')
const openingEnd = /\s*(\/?)>/y
const closing = new RegExp(`</(${nameAt})\\s*>`, 'uy')
/** An ampersand that begins no reference. */
const bareAmpersand = new RegExp(`&(?!(?:#\\d+|#x[\\da-f]+|${nameAt});)`, 'iu')

/** An element whose content still grows. */
interface OpenElement extends XmlElement {
  readonly attributes: Map<string, string>
  readonly content: (XmlElement | string)[]
}

const open = (name: string): OpenElement => ({ name, attributes: new Map(), content: [] })

/** The root element of a document without declarations. Throws when the text is not well-formed XML. */
export const xmlElements = (whole: string): XmlElement => {
  const text = whole.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const document = open('')
  const path = [document]
  /** Text on both sides of a comment is one text. */
  let continued = false
  for (let at = 0; at < text.length;) {
    const inside = path.at(-1)!
    const joins: boolean = continued
    continued = text[at] !== '<' || (joins && (text.startsWith('<!--', at) || text.startsWith('<?', at)))
    if (text.startsWith('<!--', at)) at = after(text, '-->', at + 4)
    else if (text.startsWith('<?', at)) at = after(text, '?>', at + 2)
    else if (text.startsWith('<![CDATA[', at)) {
      const end = after(text, ']]>', at + 9)
      inside.content.push(text.slice(at + 9, end - 3))
      at = end
    } else if (text.startsWith('</', at)) {
      const [closed, name] = matched(closing, text, at)
      if (name !== inside.name || path.length === 1) throw new Error('An XML element is closed by another name')
      path.pop()
      at += closed.length
    } else if (text[at] === '<') {
      const begun = opened(text, at)
      inside.content.push(begun.element)
      if (!begun.empty && path.push(begun.element) > mostDepth) throw new Error('XML elements are nested too deeply')
      at = begun.end
    } else {
      const found = text.indexOf('<', at)
      const end = found < 0 ? text.length : found
      const before = joins ? inside.content.pop() : ''
      inside.content.push(`${String(before)}${decoded(text.slice(at, end))}`)
      at = end
    }
  }
  if (path.length > 1) throw new Error('An XML element is not closed')
  return rootOf(document)
}

/** Only white space stands beside the root. */
const rootOf = ({ content }: XmlElement): XmlElement => {
  const [root, more] = content.filter((part) => typeof part !== 'string' || part.trim() !== '')
  if (root === undefined || typeof root === 'string' || more !== undefined) throw new Error('XML has one root element')
  return root
}

/** An element from its opening tag. Throws when an attribute stands twice. */
const opened = (text: string, from: number) => {
  const [start, name = ''] = matched(opening, text, from)
  const element = open(name)
  let at = from + start.length
  for (;;) {
    attribute.lastIndex = at
    const found = attribute.exec(text)
    if (found === null) break
    const [written, key = '', double, single] = found
    if (element.attributes.has(key)) throw new Error('An XML attribute stands twice')
    element.attributes.set(key, decoded(double ?? single ?? ''))
    at += written.length
  }
  const [end, empty] = matched(openingEnd, text, at)
  return { element, empty: empty === '/', end: at + end.length }
}

const matched = (pattern: RegExp, text: string, at: number): RegExpExecArray => {
  pattern.lastIndex = at
  const found = pattern.exec(text)
  if (found === null) throw new Error('An XML tag is malformed')
  return found
}

const after = (text: string, end: string, from: number): number => {
  const at = text.indexOf(end, from)
  if (at < 0) throw new Error('A section of XML is not closed')
  return at + end.length
}

const decoded = (text: string): string => {
  if (bareAmpersand.test(text)) throw new Error('An XML reference is malformed')
  return decodedReferences(text)
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The five names and the numbers of XML are decoded, and other references stay as they are. */
export const decodedReferences = (text: string): string =>
  text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi, (whole, hex, decimal, name: string) => {
    if (name) return named[name] ?? whole
    const code = hex ? parseInt(hex as string, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
