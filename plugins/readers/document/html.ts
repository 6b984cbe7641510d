import { Unreadable } from '../../../core/errors.ts'
import type { Beside, Document } from '../../../core/ports/file-content.ts'
import { type Gathering, gatherBeside, shortened } from '../shared/beside.ts'
import { type Counting, numeral } from '../shared/document-numerals.ts'
import { type Rows, rows } from '../shared/document-rows.ts'
import { documentWriter, type DocumentWriter, type WrittenDocument } from '../shared/document-writing.ts'
import { optionalPackage } from '../../../core/optional-package.ts'
import { decodeBytes } from '../../shared/charset.ts'

const mostBytes = 32_000_000
/** Deeper than pages written by people, and not deep enough to slow the parser. */
const mostDepth = 2_000

export const readHtml = async (
  bytes: Uint8Array,
  mime: string,
): Promise<WrittenDocument & Beside & Pick<Document, 'encoding'>> => {
  const writing = documentWriter()
  const gathering = gatherBeside()
  const { text, encoding } = decodeBytes(bytes.subarray(0, mostBytes), mime)
  await writeHtml(writing, text, gathering)
  const written = writing.finish()
  return { ...written, ...gathering.finish(), encoding, truncated: written.truncated || bytes.length > mostBytes }
}

/** Writes the text of a page. The reader fetches nothing and drops scripts and styles. */
export const writeHtml = async (writing: DocumentWriter, text: string, gathering = gatherBeside()): Promise<void> => {
  const { Parser } = await optionalPackage('htmlparser2', () => import('htmlparser2'))
  const page = reading(writing, rows(writing), gathering)
  let depth = 0
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > mostDepth) throw new Unreadable()
        page.open(name, attributes)
      },
      onclosetag(name) {
        depth--
        page.close(name)
      },
      ontext: page.text,
    },
    // Without this option, `<title/>` would swallow the rest of a book.
    { recognizeSelfClosing: true },
  )
  for (let at = 0; at < text.length && !writing.full(); at += 65_536) parser.write(text.slice(at, at + 65_536))
  parser.end()
  writing.end()
}

interface List {
  readonly counting: Counting | null
  next: number
}

type Attributes = Readonly<Record<string, string>>

const unread = new Set(
  'script style template noscript iframe object embed svg canvas audio video select datalist textarea head del rt rp'.split(
    ' ',
  ),
)
const blocks = new Set(
  (
    'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer ' +
    'form header hr legend main menu nav ol p pre section summary ul'
  ).split(' '),
)
const countings: Readonly<Record<string, Counting>> = {
  a: 'lower-letter',
  A: 'upper-letter',
  i: 'lower-roman',
  I: 'upper-roman',
}

const reading = (writing: DocumentWriter, tables: Rows, gathering: Gathering) => {
  const lists: List[] = []
  let skipped = 0
  let exact = 0
  let title: string | null = null
  let blank = true
  const raised: string[] = []
  let link: { readonly url: string; text: string } | null = null
  const say = (text: string) => {
    if (link && link.text.length < 2_000) link.text += text
    if (exact > 0) return writing.say(text)
    const flowing = text.replace(/\s+/g, ' ')
    writing.say(blank ? flowing.trimStart() : flowing)
    blank = flowing.endsWith(' ') || (blank && flowing === '')
  }
  const end = (finish: () => void = writing.end) => {
    finish()
    blank = true
  }
  const item = (value: string | undefined) => {
    const list = lists.at(-1)
    if (list && /^\d{1,6}$/.test(value ?? '')) list.next = Number(value)
    const sign = list?.counting ? `${numeral(list.next++, list.counting)}.` : '-'
    end()
    writing.mark(`${'  '.repeat(Math.min(20, Math.max(0, lists.length - 1)))}${sign} `)
  }
  // A superscript link within the page refers to a footnote.
  const raise = (name: string) => {
    if (raised.at(-1) !== name && raised.push(name) === 2) writing.say('[')
  }
  const lower = () => {
    if (raised.length === 2) writing.say(']')
    raised.pop()
  }
  const opens: Readonly<Record<string, (attributes: Attributes) => void>> = {
    br: () => end(() => writing.say('\n')),
    // The description of a picture stands for it.
    img: ({ alt = '' }) => {
      if (alt.trim() === '') return
      gathering.add('images', { alt: shortened(alt), at: null })
      say(` ${alt} `)
    },
    a: ({ href = '' }) =>
      void (link = /^(https?|mailto|tel):/i.test(href) ? { url: href.slice(0, 2_000), text: '' } : null),
    input: ({ type = 'text', value = '' }) =>
      say(/^(text|search|submit|button|email|number|url)$/.test(type) ? value : ''),
    pre: () => void exact++,
    ul: () => void lists.push({ counting: null, next: 1 }),
    menu: () => void lists.push({ counting: null, next: 1 }),
    ol: ({ type = '', start = '' }) =>
      void lists.push({ counting: countings[type] ?? 'decimal', next: /^\d{1,6}$/.test(start) ? Number(start) : 1 }),
    li: ({ value }) => item(value),
    table: () => end(tables.openTable),
    tr: () => end(tables.openRow),
    td: () => end(tables.openCell),
    th: () => end(tables.openCell),
  }
  const endLink = () => {
    if (link) gathering.add('links', { ...link, text: shortened(link.text), at: null })
    link = null
  }
  const closes: Readonly<Record<string, () => void>> = {
    a: endLink,
    pre: () => void exact--,
    ul: () => void lists.pop(),
    menu: () => void lists.pop(),
    ol: () => void lists.pop(),
    li: () => {
      end()
      writing.mark('')
    },
    table: () => end(tables.closeTable),
    tr: () => end(tables.closeRow),
    td: () => end(tables.closeCell),
    th: () => end(tables.closeCell),
  }
  return {
    open(name: string, attributes: Attributes) {
      if (name === 'title') title = ''
      if (skipped > 0 || unread.has(name) || attributes['hidden'] !== undefined) return void skipped++
      if (blocks.has(name) || /^h[1-6]$/.test(name)) end()
      if (name === 'sup' || (name === 'a' && attributes['href']?.startsWith('#'))) raise(name)
      if (Object.hasOwn(opens, name)) opens[name]!(attributes)
    },
    close(name: string) {
      if (name === 'title' && title !== null) {
        writing.title(title)
        title = null
      }
      if (skipped > 0) return void skipped--
      if (raised.at(-1) === name) lower()
      if (/^h[1-6]$/.test(name)) return end(() => writing.endHeading(Number(name[1])))
      if (blocks.has(name)) end()
      if (Object.hasOwn(closes, name)) closes[name]!()
    },
    text(text: string) {
      if (title !== null) title += text
      else if (skipped === 0) say(text)
    },
  }
}
