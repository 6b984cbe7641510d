import { Unreadable } from '../../../core/errors.ts'
import { neededPart, partAt, relationsOf, textIn } from '../shared/document-parts.ts'
import { rows } from '../shared/document-rows.ts'
import { documentWriter, type DocumentWriter, type WrittenDocument } from '../shared/document-writing.ts'
import { type Numbering, numberingOf } from './docx-numbering.ts'
import { type MarkupEvents, scanXml } from '../shared/markup.ts'
import { runTexts } from '../shared/powers.ts'
import { officeMath } from '../shared/office-math.ts'
import { unzip } from '../../shared/zip.ts'

/** Reads a Word document with its changes accepted. Comments, headers and footers are left out. */
export const readDocx = async (bytes: Uint8Array): Promise<WrittenDocument> => {
  const parts = await unzip(
    bytes,
    (name) => /\.(xml|rels)$/.test(name) && !/(^|\/)(theme|comments|customXml)/.test(name),
  )
  const root = relationsOf(parts, '')
  const main = root.find(({ kind }) => kind === 'officeDocument')
  if (!main) throw new Unreadable()
  const relations = relationsOf(parts, main.target)
  const styles = stylesOf(partAt(parts, relations, 'styles'))
  const numbering = numberingOf(partAt(parts, relations, 'numbering'))
  const notes = new Map(
    ['footnote', 'endnote'].map((kind) => [kind, notesIn(partAt(parts, relations, `${kind}s`), { styles, numbering })]),
  )
  const writing = documentWriter()
  writing.title(textIn(partAt(parts, root, 'core-properties'), 'title'))
  scanXml(neededPart(parts, main.target), reading(writing, { styles, numbering, notes }))
  return writing.finish()
}

/** `notes` is absent while the notes themselves are read. */
interface About {
  readonly styles: (id: string) => Style
  readonly numbering: Numbering
  readonly notes?: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** What a paragraph says itself; null leaves the decision to its style. */
interface Paragraph {
  style: Style | null
  heading: number | null
  list: string | null
  level: number | null
  /** Its mark was deleted, so the next paragraph goes on in its line. */
  joined: boolean
}

/** Elements that Word hides, shows beside the text, or repeats for older programs. */
const unread = /^(del|moveFrom|Fallback|tabs|rt|\w+Change)$/

/** What takes the mark of a paragraph away, among the properties of the paragraph. */
const takesMark = /^(del|moveFrom)$/

/** Ends a paragraph as a heading, an entry of a list or plain text. */
const endParagraph = (writing: DocumentWriter, numbering: Numbering, paragraph: Paragraph | undefined): void => {
  if (paragraph?.joined) return
  const style = paragraph?.style
  const list = paragraph?.list ?? style?.list ?? null
  const level = paragraph?.level ?? style?.level ?? 0
  const heading = paragraph?.heading ?? style?.heading ?? (style?.title ? 1 : null)
  const mark = list === null ? '' : numbering(list, level)
  if (heading !== null) {
    if (mark !== '' && mark !== '-') writing.mark(`${mark} `)
    return writing.endHeading(heading)
  }
  if (mark !== '') writing.mark(`${'  '.repeat(level)}${mark} `)
  writing.end()
  writing.mark('')
}

const refer = (writing: DocumentWriter, text: string | undefined): void => {
  if (text) writing.say(writing.note(text))
}

const reading = (writing: DocumentWriter, { styles, numbering, notes }: About): MarkupEvents => {
  const tables = rows(writing)
  const math = officeMath(writing)
  const runs = runTexts(writing)
  const paragraphs: Paragraph[] = []
  let skipped = 0
  let inProperties = false
  const opens: Readonly<Record<string, (value: string | null, id: string) => void>> = {
    p() {
      paragraphs.push({ style: null, heading: null, list: null, level: null, joined: false })
      runs.paragraph()
    },
    r: runs.begin,
    vertAlign: (value) => runs.raise(value === 'superscript'),
    pPr: () => void (inProperties = true),
    pStyle: (value) => set({ style: styles(value ?? '') }),
    outlineLvl: (value) => set({ heading: headingOf(Number(value)) }),
    numId: (value) => set({ list: value }),
    ilvl: (value) => set({ level: Number(value) }),
    tab: () => writing.say('\t'),
    ptab: () => writing.say('\t'),
    br: () => writing.say('\n'),
    cr: () => writing.say('\n'),
    noBreakHyphen: () => writing.say('-'),
    txbxContent: writing.enter,
    tbl: tables.openTable,
    tr: tables.openRow,
    tc: tables.openCell,
    footnoteReference: (_, id) => refer(writing, notes?.get('footnote')?.get(id)),
    endnoteReference: (_, id) => refer(writing, notes?.get('endnote')?.get(id)),
  }
  const closes: Readonly<Record<string, () => void>> = {
    p: () => endParagraph(writing, numbering, paragraphs.pop()),
    pPr: () => void (inProperties = false),
    txbxContent: () => writing.say(`\n${writing.leave()}\n`),
    tbl: tables.closeTable,
    tr: tables.closeRow,
    tc: tables.closeCell,
  }
  const set = (facts: Partial<Paragraph>) => void Object.assign(paragraphs.at(-1) ?? {}, facts)
  return {
    open(name, attribute) {
      if (skipped === 0 && inProperties && takesMark.test(name)) set({ joined: true })
      if (skipped > 0 || unread.test(name)) return void skipped++
      math.open(name, attribute)
      const act = Object.hasOwn(opens, name) ? opens[name] : undefined
      act?.(attribute('val'), attribute('id') ?? '')
    },
    close(name) {
      if (skipped > 0) return void skipped--
      math.close(name)
      if (Object.hasOwn(closes, name)) closes[name]!()
    },
    text(text, within) {
      if (skipped === 0 && within === 't') runs.say(text)
    },
    full: writing.full,
  }
}

/** The texts of footnotes or endnotes by their ids; empty notes are left out. */
const notesIn = (bytes: Uint8Array | null, about: About): ReadonlyMap<string, string> => {
  const notes = new Map<string, string>()
  if (bytes === null) return notes
  const writing = documentWriter()
  const inner = reading(writing, about)
  let id = ''
  const isNote = (name: string) => name === 'footnote' || name === 'endnote'
  scanXml(bytes, {
    ...inner,
    open(name, attribute) {
      if (!isNote(name)) return inner.open!(name, attribute)
      id = attribute('id') ?? ''
      writing.enter()
    },
    close(name) {
      if (!isNote(name)) return inner.close!(name)
      const text = writing.leave().trim()
      if (text !== '') notes.set(id, text)
    },
  })
  return notes
}

/** The facts of a paragraph style, inherited ones included. */
interface Style {
  /** The level of a heading, from 1; null when the style is no heading. */
  readonly heading: number | null
  readonly title: boolean
  readonly list: string | null
  readonly level: number
}

/** A style as the file has it; null means that the parent style decides. */
interface Written {
  name: string
  parent: string
  outline: number | null
  list: string | null
  level: number | null
}

/** The style by its id. A chain of parents ends after 20 styles, which also ends a circle. */
const stylesOf = (bytes: Uint8Array | null): ((id: string) => Style) => {
  const styles = bytes === null ? new Map<string, Written>() : read(bytes)
  return (id) => {
    const chain: Written[] = []
    for (let next = styles.get(id); next && chain.length < 20; next = styles.get(next.parent)) chain.push(next)
    const nearest = <K extends keyof Written>(key: K) => chain.find((style) => style[key] !== null)?.[key] ?? null
    const named = chain.map(({ name }) => /^heading ([1-9])$/i.exec(name)?.[1]).find((level) => level !== undefined)
    return {
      heading: named === undefined ? headingOf(nearest('outline')) : Number(named),
      title: chain[0]?.name.toLowerCase() === 'title',
      list: nearest('list'),
      level: nearest('level') ?? 0,
    }
  }
}

/** Word stores headings as outline levels 0 to 8, and plain text as 9. */
const headingOf = (outline: number | null): number | null =>
  outline !== null && outline >= 0 && outline < 9 ? outline + 1 : null

const read = (bytes: Uint8Array): ReadonlyMap<string, Written> => {
  const styles = new Map<string, Written>()
  let style: Written | null = null
  scanXml(bytes, {
    open(name, attribute) {
      if (name === 'style') {
        style = { name: '', parent: '', outline: null, list: null, level: null }
        styles.set(attribute('styleId') ?? '', style)
      }
      const value = attribute('val')
      if (!style || value === null) return
      if (name === 'name') style.name = value
      else if (name === 'basedOn') style.parent = value
      else if (name === 'outlineLvl') style.outline = Number(value)
      else if (name === 'numId') style.list = value
      else if (name === 'ilvl') style.level = Number(value)
    },
  })
  return styles
}
