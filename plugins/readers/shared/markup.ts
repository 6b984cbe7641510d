import { Unreadable } from '../../../core/errors.ts'
import { decodePage } from '../../shared/charset.ts'

/** An attribute by its name without prefix. Where two share this name, the prefixed one counts. */
export type Attribute = (name: string) => string | null

/** What a format takes from its XML; absent methods take nothing. */
export interface MarkupEvents {
  /** Names come without their prefix. */
  open?(name: string, attribute: Attribute): void
  close?(name: string): void
  /** Called for each piece: a comment or a CDATA section parts the text of one element. */
  text?(text: string, within: string): void
  /** True when the rest can stay unread. */
  full?(): boolean
}

/** The accepted DOCTYPE: some formats name a DTD, and no format defines anything in it. */
export type Doctype = 'none' | 'plain'

/** Deeper elements are refused. */
const mostDepth = 256

/** Refuses text that makes an XML parser fetch files or expand entities, before any parser runs. Throws Unreadable. */
export const guardMarkup = (text: string, doctype: Doctype = 'none'): void => {
  if (doctype === 'none' ? /<!(DOCTYPE|ENTITY)/i.test(text) : definesInside(text)) throw new Unreadable()
}

/** True when the DOCTYPE has a part of its own, which could declare entities. */
const definesInside = (text: string): boolean => {
  const prolog = text.slice(0, Math.max(0, text.search(/<[a-z]/i)))
  const start = prolog.search(/<!DOCTYPE/i)
  return /<!ENTITY/i.test(prolog) || (start >= 0 && prolog.slice(start).split('>', 1)[0]!.includes('['))
}

/** Reads XML from start to end and stores nothing. Throws Unreadable for malformed or too deep text. */
export const scanXml = (bytes: Uint8Array, markup: MarkupEvents, doctype: Doctype = 'none'): void => {
  const text = decodePage(bytes, '')
  guardMarkup(text, doctype)
  const within: string[] = []
  let begun = false
  const say = (text: string) => {
    const inside = within.at(-1)
    if (inside === undefined && text.trim() !== '') throw new Unreadable()
    if (inside !== undefined && text !== '') markup.text?.(text, inside)
  }
  const open = (tag: string) => {
    const alone = tag.endsWith('/')
    const space = tag.search(/\s/)
    const name = local(space < 0 ? tag.slice(0, alone ? -1 : undefined) : tag.slice(0, space))
    if (name === '' || (begun && within.length === 0) || within.push(name) > mostDepth) throw new Unreadable()
    begun = true
    markup.open?.(name, attributesOf(space < 0 ? '' : tag.slice(space, alone ? -1 : undefined)))
    if (alone) close(name)
  }
  const close = (name: string) => {
    if (within.pop() !== name) throw new Unreadable()
    markup.close?.(name)
  }
  for (let at = 0; !markup.full?.();) {
    const start = text.indexOf('<', at)
    say(unescape(text.slice(at, start < 0 ? text.length : start)))
    if (start < 0) break
    if (text.startsWith('<!--', start)) at = after(text, '-->', start + 4)
    else if (text.startsWith('<![CDATA[', start)) {
      at = after(text, ']]>', start + 9)
      say(text.slice(start + 9, at - 3))
    } else if (text[start + 1] === '?' || text[start + 1] === '!') at = after(text, '>', start)
    else {
      const end = tagEnd(text, start)
      const tag = text.slice(start + 1, end)
      if (tag.startsWith('/')) close(local(tag.slice(1).trim()))
      else open(tag)
      at = end + 1
    }
  }
  if (!markup.full?.() && (!begun || within.length > 0)) throw new Unreadable()
}

/** The place behind the next `end`. Throws Unreadable when the text ends before. */
const after = (text: string, end: string, from: number): number => {
  const at = text.indexOf(end, from)
  if (at < 0) throw new Unreadable()
  return at + end.length
}

const [double, single, greater] = [0x22, 0x27, 0x3e]

/** The end of a tag: a `>` inside of quotes ends no tag. */
const tagEnd = (text: string, from: number): number => {
  for (let at = from, quote = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (quote !== 0) quote = code === quote ? 0 : quote
    else if (code === double || code === single) quote = code
    else if (code === greater) return at
  }
  throw new Unreadable()
}

const local = (name: string): string => name.slice(name.indexOf(':') + 1)

/** Parses attributes at first use: most elements are never asked for one. */
const attributesOf = (tag: string): Attribute => {
  let known: ReadonlyMap<string, string> | null = null
  return (name) => {
    if (tag === '') return null
    known ??= parsed(tag)
    return known.get(name) ?? null
  }
}

const parsed = (tag: string): ReadonlyMap<string, string> => {
  const known = new Map<string, string>()
  for (let at = 0; ;) {
    const equals = tag.indexOf('=', at)
    if (equals < 0) return known
    const whole = tag.slice(at, equals).trim()
    const name = local(whole)
    const rest = tag.slice(equals + 1, equals + 100).trimStart()[0]
    const start = rest === '"' || rest === "'" ? tag.indexOf(rest, equals) : -1
    const end = start < 0 ? -1 : tag.indexOf(rest!, start + 1)
    if (end < 0) throw new Unreadable()
    if (!whole.startsWith('xmlns') && (name !== whole || !known.has(name)))
      known.set(name, unescape(tag.slice(start + 1, end)))
    at = end + 1
  }
}

/** The five names of XML, and a name of XHTML. */
const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\xa0' }

const unescape = (text: string): string =>
  text.includes('&')
    ? text.replace(
        /&(?:#x([0-9a-f]{1,8})|#(\d{1,8})|([a-z]+));/gi,
        (whole, hex?: string, decimal?: string, name = '') =>
          (hex ?? decimal) ? character(hex ? parseInt(hex, 16) : Number(decimal)) : (named[name] ?? whole),
      )
    : text

/** Numbers outside of Unicode become U+FFFD. */
const character = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd')
