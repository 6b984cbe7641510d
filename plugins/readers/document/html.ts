import { Unreadable } from '../../../core/errors.ts'
import type { Beside, Document } from '../../../core/ports/file-content.ts'
import { type Gathering, gatherBeside, shortened } from '../shared/beside.ts'
import { type Counting, countings, numeral } from '../shared/document-numerals.ts'
import { type Rows, rows } from '../shared/document-rows.ts'
import { isPower } from '../shared/powers.ts'
import { documentWriter, type DocumentWriter, type WrittenDocument } from '../shared/document-writing.ts'
import { optionalPackage } from '../../shared/optional-package.ts'
import { decodeBytes } from '../../shared/charset.ts'

/** In bytes: the rest of a longer page is not read, and the result counts as truncated. */
const mostBytes = 32_000_000
/** Deeper than pages written by people, and not deep enough to slow the parser. */
const mostDepth = 2_000

/** Throws Unreadable when elements are nested too deep. */
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

/** A list without counting has dashes. `next` is the number of the next item. */
interface List {
  readonly counting: Counting | null
  next: number
}

type Attributes = Readonly<Record<string, string>>

/** Elements that show no text of their own, or text that was deleted. */
const unread = new Set(
  'script style template noscript iframe object embed svg canvas audio video select datalist textarea head del rt rp'.split(
    ' ',
  ),
)
/** Elements that begin and end a line. */
const blocks = new Set(
  (
    'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer ' +
    'form header hr legend main menu nav ol p pre section summary ul'
  ).split(' '),
)

/** A page that is being read. */
interface Reading {
  readonly writing: DocumentWriter
  readonly tables: Rows
  readonly gathering: Gathering
  readonly lists: List[]
  /** Elements within one that is not read. */
  skipped: number
  /** Elements that keep their spaces. */
  exact: number
  /** The title so far, while it is open. */
  title: string | null
  /** At the beginning of a block, or behind a blank. */
  blank: boolean
  /** The text before, as far as it stands in the same line. */
  before: string
  /** A superscript link within the page or the book refers to a footnote. */
  readonly raised: string[]
  link: { readonly url: string; text: string } | null
}

const reading = (writing: DocumentWriter, tables: Rows, gathering: Gathering) => {
  const reading: Reading = {
    ...{ writing, tables, gathering, lists: [], raised: [] },
    ...{ skipped: 0, exact: 0, title: null, blank: true, before: '', link: null },
  }
  return {
    open(name: string, attributes: Attributes) {
      if (name === 'title') reading.title = ''
      if (reading.skipped > 0 || unread.has(name) || attributes['hidden'] !== undefined) return void reading.skipped++
      if (blocks.has(name) || /^h[1-6]$/.test(name)) end(reading)
      if (name === 'a' && refersToNote(attributes)) raiseAlone(reading, name)
      else if (name === 'sup' || (name === 'a' && /^[^:?]*#/.test(attributes['href'] ?? ''))) raise(reading, name)
      opens.get(name)?.(reading, attributes)
    },
    close(name: string) {
      if (name === 'title' && reading.title !== null) {
        writing.title(reading.title)
        reading.title = null
      }
      if (reading.skipped > 0) return void reading.skipped--
      if (reading.raised.at(-1) === name) lower(reading)
      if (/^h[1-6]$/.test(name)) return end(reading, () => writing.endHeading(Number(name[1])))
      if (blocks.has(name)) end(reading)
      closes.get(name)?.(reading)
    },
    text(text: string) {
      if (reading.title !== null) reading.title += text
      else if (reading.skipped === 0) say(reading, text)
    },
  }
}

const say = (reading: Reading, text: string): void => {
  const { link, writing, raised } = reading
  if (link && link.text.length < 2_000) link.text += text
  if (reading.exact > 0) return writing.say(text)
  const flowing = text.replace(/\s+/g, ' ')
  if (raised.length === 1 && raised[0] === 'sup' && isPower(reading.before, flowing)) writing.say('^')
  writing.say(reading.blank ? flowing.trimStart() : flowing)
  reading.before = flowing
  reading.blank = flowing.endsWith(' ') || (reading.blank && flowing === '')
}

const end = (reading: Reading, finish: () => void = reading.writing.end): void => {
  finish()
  reading.blank = true
  reading.before = ''
}

const beginItem = (reading: Reading, value: string | undefined): void => {
  const { lists, writing } = reading
  const list = lists.at(-1)
  if (list && /^\d{1,6}$/.test(value ?? '')) list.next = Number(value)
  const sign = list?.counting ? `${numeral(list.next++, list.counting)}.` : '-'
  end(reading)
  writing.mark(`${'  '.repeat(Math.min(20, Math.max(0, lists.length - 1)))}${sign} `)
}

const refersToNote = ({ role, 'epub:type': type }: Attributes): boolean =>
  role === 'doc-noteref' || /\bnoteref\b/.test(type ?? '')

/** A link that says itself that it refers to a note needs no superscript. */
const raiseAlone = (reading: Reading, name: string): void => {
  if (reading.raised.length === 0) reading.raised.push('')
  raise(reading, name)
}

/** A link of the page in superscript is a reference to a note, which brackets keep apart from the word before. */
const raise = ({ raised, writing }: Reading, name: string): void => {
  if (raised.at(-1) !== name && raised.push(name) === 2) writing.say('[')
}

const lower = ({ raised, writing }: Reading): void => {
  if (raised.length === 2) writing.say(']')
  raised.pop()
  if (raised.at(-1) === '') raised.pop()
}

const beginPlainList = ({ lists }: Reading): void => void lists.push({ counting: null, next: 1 })

/** What the beginning of an element does, by its name. */
const opens: ReadonlyMap<string, (reading: Reading, attributes: Attributes) => void> = new Map(
  Object.entries<(reading: Reading, attributes: Attributes) => void>({
    br: (reading) => end(reading, () => reading.writing.say('\n')),
    // The description of a picture stands for it.
    img(reading, { alt = '' }) {
      if (alt.trim() === '') return
      reading.gathering.add('images', { alt: shortened(alt), at: null })
      say(reading, ` ${alt} `)
    },
    a: (reading, { href = '' }) =>
      void (reading.link = /^(https?|mailto|tel):/i.test(href) ? { url: href.slice(0, 2_000), text: '' } : null),
    input: (reading, { type = 'text', value = '' }) =>
      say(reading, /^(text|search|submit|button|email|number|url)$/.test(type) ? value : ''),
    option: (reading) => say(reading, ' '),
    pre: (reading) => void reading.exact++,
    ul: beginPlainList,
    menu: beginPlainList,
    ol: ({ lists }, { type = '', start = '' }) =>
      void lists.push({ counting: countings[type] ?? 'decimal', next: /^\d{1,6}$/.test(start) ? Number(start) : 1 }),
    li: (reading, { value }) => beginItem(reading, value),
    table: (reading) => end(reading, reading.tables.openTable),
    tr: (reading) => end(reading, reading.tables.openRow),
    td: (reading) => end(reading, reading.tables.openCell),
    th: (reading) => end(reading, reading.tables.openCell),
  }),
)

const endLink = (reading: Reading): void => {
  if (reading.link) reading.gathering.add('links', { ...reading.link, text: shortened(reading.link.text), at: null })
  reading.link = null
}

/** What the end of an element does, by its name. */
const closes: ReadonlyMap<string, (reading: Reading) => void> = new Map(
  Object.entries<(reading: Reading) => void>({
    a: endLink,
    pre: (reading) => void reading.exact--,
    ul: ({ lists }) => void lists.pop(),
    menu: ({ lists }) => void lists.pop(),
    ol: ({ lists }) => void lists.pop(),
    li(reading) {
      end(reading)
      reading.writing.mark('')
    },
    table: (reading) => end(reading, reading.tables.closeTable),
    tr: (reading) => end(reading, reading.tables.closeRow),
    td: (reading) => end(reading, reading.tables.closeCell),
    th: (reading) => end(reading, reading.tables.closeCell),
  }),
)
