import { neededPart, textIn } from './document-parts.ts'
import { rows } from './document-rows.ts'
import { documentWriter, type DocumentWriter, type WrittenDocument } from './document-writing.ts'
import { type MarkupEvents, scanXml } from './markup.ts'
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
  if (styles) scanXml(styles, { open: text.learn! })
  scanXml(neededPart(parts, 'content.xml'), text)
  return writing.finish()
}

const unread = new Set(
  'annotation tracked-changes deletion script forms sequence-decls note-citation ruby-text title desc binary-data'.split(
    ' ',
  ),
)

/** Paragraphs, lists, tables and notes of all OpenDocument formats. */
export const openText = (writing: DocumentWriter): MarkupEvents & { readonly learn: MarkupEvents['open'] } => {
  const tables = rows(writing)
  const marks = lists()
  const levels: number[] = []
  let begun = false
  let skipped = 0
  let blank = true
  const end = (finish: () => void = writing.end) => {
    finish()
    blank = true
  }
  const say = (text: string) => {
    writing.say(text)
    blank = false
  }
  const opens: MarkupEvents['open'] = (name, attribute) => {
    if (name === 'p') end()
    else if (name === 'h') {
      end()
      levels.push(Number(attribute('outline-level') ?? 1))
    } else if (name === 's') say(' '.repeat(Math.min(100, Number(attribute('c') ?? 1) || 1)))
    else if (name === 'tab') say('\t')
    else if (name === 'line-break') end(() => writing.say('\n'))
    else if (name === 'list')
      marks.openList(
        attribute('style-name'),
        attribute('continue-numbering') === 'true' || attribute('continue-list') !== null,
      )
    else if (name === 'list-item') writing.mark(marks.item(attribute('start-value')))
    else if (name === 'table') end(tables.openTable)
    else if (name === 'table-row') tables.openRow()
    else if (name === 'table-cell' || name === 'covered-table-cell') end(tables.openCell)
    else if (name === 'note-body' || name === 'text-box') end(writing.enter)
    else marks.open(name, attribute)
  }
  const closes: Readonly<Record<string, () => void>> = {
    p: () => end(),
    h: () => end(() => writing.endHeading(levels.pop() ?? 1)),
    list: marks.closeList,
    'list-item': () => writing.mark(''),
    table: () => end(tables.closeTable),
    'table-row': () => end(tables.closeRow),
    'table-cell': () => end(tables.closeCell),
    'covered-table-cell': () => end(tables.closeCell),
    'note-body': () => say(writing.note(writing.leave().trim())),
    'text-box': () => end(() => writing.say(`\n${writing.leave()}\n`)),
  }
  return {
    learn: marks.open,
    open(name, attribute) {
      if (skipped > 0 || unread.has(name)) return void skipped++
      // The styles before the body have texts, too, such as the separators of a date.
      if (name === 'body') begun = true
      opens(name, attribute)
    },
    close(name) {
      if (skipped > 0) return void skipped--
      if (Object.hasOwn(closes, name)) closes[name]!()
    },
    text(text) {
      if (skipped > 0 || !begun) return
      const flowing = text.replace(/\s+/g, ' ')
      writing.say(blank ? flowing.trimStart() : flowing)
      blank = flowing.endsWith(' ') || (blank && flowing === '')
    },
    full: writing.full,
  }
}
