import { neededPart, textIn } from './document-parts.ts'
import { rows } from './document-rows.ts'
import { documentWriter, type DocumentWriter, type WrittenDocument } from './document-writing.ts'
import { type Attribute, type MarkupEvents, scanXml } from './markup.ts'
import { lists } from './odt-lists.ts'
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
  const it: Reading = {
    ...{ writing, tables: rows(writing), marks: lists(), levels: [] },
    ...{ begun: false, skipped: 0, blank: true },
  }
  const closes = closings(it)
  return {
    learn: it.marks.open,
    open(name, attribute) {
      if (it.skipped > 0 || unread.has(name)) return void it.skipped++
      // The styles before the body have texts, too, such as the separators of a date.
      if (name === 'body') it.begun = true
      opened(it, name, attribute)
    },
    close(name) {
      if (it.skipped > 0) return void it.skipped--
      closes.get(name)?.()
    },
    text(text) {
      if (it.skipped > 0 || !it.begun) return
      const flowing = text.replace(/\s+/g, ' ')
      writing.say(it.blank ? flowing.trimStart() : flowing)
      it.blank = flowing.endsWith(' ') || (it.blank && flowing === '')
    },
    full: writing.full,
  }
}

/** The next text begins a line, so its first blanks are dropped. */
const end = (it: Reading, finish: () => void = it.writing.end): void => {
  finish()
  it.blank = true
}

const say = (it: Reading, text: string): void => {
  it.writing.say(text)
  it.blank = false
}

/** What the beginning of an element does. All other elements may describe styles of lists. */
const opened = (it: Reading, name: string, attribute: Attribute): void => {
  const { writing, tables, marks } = it
  if (name === 'p') end(it)
  else if (name === 'h') {
    end(it)
    it.levels.push(Number(attribute('outline-level') ?? 1))
  } else if (name === 's') say(it, ' '.repeat(Math.min(100, Number(attribute('c') ?? 1) || 1)))
  else if (name === 'tab') say(it, '\t')
  else if (name === 'line-break') end(it, () => writing.say('\n'))
  else if (name === 'list')
    marks.openList(
      attribute('style-name'),
      attribute('continue-numbering') === 'true' || attribute('continue-list') !== null,
    )
  else if (name === 'list-item') writing.mark(marks.item(attribute('start-value')))
  else if (name === 'table') end(it, tables.openTable)
  else if (name === 'table-row') tables.openRow()
  else if (name === 'table-cell' || name === 'covered-table-cell') end(it, tables.openCell)
  else if (name === 'note-body' || name === 'text-box') end(it, writing.enter)
  else marks.open(name, attribute)
}

/** What the end of an element does, by its name. */
const closings = (it: Reading): ReadonlyMap<string, () => void> => {
  const { writing, tables, marks, levels } = it
  return new Map(
    Object.entries({
      p: () => end(it),
      h: () => end(it, () => writing.endHeading(levels.pop() ?? 1)),
      list: marks.closeList,
      'list-item': () => writing.mark(''),
      table: () => end(it, tables.closeTable),
      'table-row': () => end(it, tables.closeRow),
      'table-cell': () => end(it, tables.closeCell),
      'covered-table-cell': () => end(it, tables.closeCell),
      'note-body': () => say(it, writing.note(writing.leave().trim())),
      'text-box': () => end(it, () => writing.say(`\n${writing.leave()}\n`)),
    }),
  )
}
