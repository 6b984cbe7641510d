import { neededPart, textIn } from './document-parts.ts'
import { rows } from './document-rows.ts'
import { documentWriter, type DocumentWriter, type WrittenDocument } from './document-writing.ts'
import { type Attribute, type MarkupEvents, scanXml } from './markup.ts'
import { lists } from './odt-lists.ts'
import { runTexts } from './powers.ts'
import { unzip } from '../../shared/zip.ts'

const files = new Set(['content.xml', 'styles.xml', 'meta.xml'])

/** Reads an OpenDocument text without comments and deleted text. */
export const readOdt = async (bytes: Uint8Array): Promise<WrittenDocument> => {
  const parts = await unzip(bytes, (name) => files.has(name))
  const writing = documentWriter()
  writing.title(textIn(parts.get('meta.xml') ?? null, 'title'))
  const text = openText(writing)
  const styles = parts.get('styles.xml')
  // The styles contain page headers, whose text is not read here.
  if (styles) scanXml(styles, { open: text.learn })
  scanXml(neededPart(parts, 'content.xml'), text)
  return writing.finish()
}

/** Elements whose text is no part of the document, or is read elsewhere. */
const unread = new Set(
  'annotation tracked-changes deletion script forms sequence-decls note-citation ruby-text title desc binary-data'.split(
    ' ',
  ),
)

/** A text that is being read. */
interface Reading {
  readonly writing: DocumentWriter
  readonly tables: ReturnType<typeof rows>
  readonly marks: ReturnType<typeof lists>
  readonly runs: ReturnType<typeof runTexts>
  /** Whether styles raise text, by their names; the last one is being learnt. */
  readonly raising: Map<string, boolean>
  style: string
  /** Whether each open span raises its text. */
  readonly spans: boolean[]
  /** Of the headings that are open. */
  readonly levels: number[]
  /** Behind the beginning of the body. */
  begun: boolean
  /** Elements within one that is not read. */
  skipped: number
  /** At the beginning of a paragraph, or behind a blank. */
  blank: boolean
}

/** Paragraphs, lists, tables and notes of all OpenDocument formats. */
export const openText = (
  writing: DocumentWriter,
): MarkupEvents & { readonly learn: (name: string, attribute: Attribute) => void } => {
  const reading: Reading = {
    ...{ writing, tables: rows(writing), marks: lists(), levels: [] },
    ...{ runs: runTexts(writing), raising: new Map(), spans: [], style: '' },
    ...{ begun: false, skipped: 0, blank: true },
  }
  const closes = closings(reading)
  return {
    learn: (name, attribute) => learn(reading, name, attribute),
    open(name, attribute) {
      if (reading.skipped > 0 || unread.has(name)) return void reading.skipped++
      // The styles before the body have texts, too, such as the separators of a date.
      if (name === 'body') reading.begun = true
      opened(reading, name, attribute)
    },
    close(name) {
      if (reading.skipped > 0) return void reading.skipped--
      closes.get(name)?.()
    },
    text(text) {
      if (reading.skipped > 0 || !reading.begun) return
      const flowing = text.replace(/\s+/g, ' ')
      reading.runs.raise(reading.spans.at(-1) ?? false)
      reading.runs.say(reading.blank ? flowing.trimStart() : flowing)
      reading.blank = flowing.endsWith(' ') || (reading.blank && flowing === '')
    },
    full: writing.full,
  }
}

/** The next text begins a line, so its first blanks are dropped. */
const end = (reading: Reading, finish: () => void = reading.writing.end): void => {
  finish()
  reading.runs.paragraph()
  reading.blank = true
}

const say = (reading: Reading, text: string): void => {
  reading.runs.raise(false)
  reading.runs.say(text)
  reading.blank = false
}

/** Learns styles of lists and of raised text. A style is raised as its parent is. */
const learn = (reading: Reading, name: string, attribute: Attribute): void => {
  const { marks, raising } = reading
  marks.open(name, attribute)
  if (name === 'style') {
    reading.style = attribute('name') ?? ''
    raising.set(reading.style, raising.get(attribute('parent-style-name') ?? '') ?? false)
  }
  const position = name === 'text-properties' && attribute('text-position')
  if (position) raising.set(reading.style, /^(super|[1-9])/.test(position))
}

/** What the beginning of an element does. All other elements may describe styles of lists. */
const opened = (reading: Reading, name: string, attribute: Attribute): void => {
  const { writing, tables, marks } = reading
  if (name === 'p') end(reading)
  else if (name === 'h') {
    end(reading)
    reading.levels.push(Number(attribute('outline-level') ?? 1))
  } else if (name === 's') say(reading, ' '.repeat(Math.min(100, Number(attribute('c') ?? 1) || 1)))
  else if (name === 'span')
    reading.spans.push(reading.spans.at(-1) || reading.raising.get(attribute('style-name') ?? '') || false)
  else if (name === 'tab') say(reading, '\t')
  else if (name === 'line-break') end(reading, () => writing.say('\n'))
  else if (name === 'list')
    marks.openList(
      attribute('style-name'),
      attribute('continue-numbering') === 'true' || attribute('continue-list') !== null,
    )
  else if (name === 'list-item') writing.mark(marks.item(attribute('start-value')))
  else if (name === 'table') end(reading, tables.openTable)
  else if (name === 'table-row') tables.openRow()
  else if (name === 'table-cell' || name === 'covered-table-cell') end(reading, tables.openCell)
  else if (name === 'note-body' || name === 'text-box') end(reading, writing.enter)
  else learn(reading, name, attribute)
}

/** What the end of an element does, by its name. */
const closings = (reading: Reading): ReadonlyMap<string, () => void> => {
  const { writing, tables, marks, levels } = reading
  return new Map(
    Object.entries({
      p: () => end(reading),
      span: () => void reading.spans.pop(),
      h: () => end(reading, () => writing.endHeading(levels.pop() ?? 1)),
      list: marks.closeList,
      'list-item': () => writing.mark(''),
      table: () => end(reading, tables.closeTable),
      'table-row': () => end(reading, tables.closeRow),
      'table-cell': () => end(reading, tables.closeCell),
      'covered-table-cell': () => end(reading, tables.closeCell),
      'note-body': () => say(reading, writing.note(writing.leave().trim())),
      'text-box': () => end(reading, () => writing.say(`\n${writing.leave()}\n`)),
    }),
  )
}
