import { Unreadable } from '../../../core/errors.ts'
import { neededPart, type Parts, partAt, relationsOf } from '../shared/document-parts.ts'
import { rows } from '../shared/document-rows.ts'
import { documentWriter, type DocumentWriter } from '../shared/document-writing.ts'
import { type MarkupEvents, scanXml, type Attribute } from '../shared/markup.ts'
import { runTexts } from '../shared/powers.ts'
import { officeMath } from '../shared/office-math.ts'
import { type Counting, numeral } from '../shared/document-numerals.ts'
import { gatherSlides } from './slide-bounds.ts'
import type { Slides } from '../../../core/ports/file-content.ts'
import { unzip } from '../../shared/zip.ts'

/** Reads a PowerPoint presentation. */
export const readPptx = async (bytes: Uint8Array): Promise<Slides> => {
  const parts = await unzip(
    bytes,
    (name) => /\.(xml|rels)$/.test(name) && !/(^|\/)(theme|slideMasters|slideLayouts|comments)\//.test(name),
  )
  const main = relationsOf(parts, '').find(({ kind }) => kind === 'officeDocument')
  if (!main) throw new Unreadable()
  const names = orderOf(parts, main.target)
  const gathered = gatherSlides()
  for (const name of names) {
    if (gathered.full()) return gathered.finish(false)
    const relations = relationsOf(parts, name)
    const slide = readPart(neededPart(parts, name), gathered.left())
    const notes = partAt(parts, relations, 'notesSlide')
    const diagrams = relations.filter(({ kind }) => kind === 'diagramData').map(({ target }) => parts.get(target))
    const drawn = diagrams.map((data) => (data ? readPart(data, gathered.left()).text : ''))
    const text = [slide.text, ...drawn].filter((words) => words !== '').join('\n')
    gathered.add(slide.title, text, notes ? readPart(notes, gathered.left()).text : '', slide.hidden)
  }
  return gathered.finish(true)
}

/** The parts of the slides in the order of the show. */
const orderOf = (parts: Parts, main: string): readonly string[] => {
  const targets = new Map(relationsOf(parts, main).map(({ id, target }) => [id, target]))
  const names: string[] = []
  scanXml(neededPart(parts, main), {
    open(name, attribute) {
      const target = name === 'sldId' ? targets.get(attribute('id') ?? '') : undefined
      if (target !== undefined) names.push(target)
    },
  })
  return names
}

/** `most` in characters limits the text of one part. */
const readPart = (bytes: Uint8Array, most: number) => {
  const writing = documentWriter(most)
  const about = { title: '', hidden: false }
  scanXml(bytes, reading(writing, about))
  const text = writing.finish().sections.map((section) => section.text)
  return { ...about, text: text.join('\n') }
}

/** Parts that are not the text of a slide. */
const unread = new Set(['sldNum', 'hdr', 'sldImg'])

const reading = (writing: DocumentWriter, about: { title: string; hidden: boolean }): MarkupEvents => {
  const tables = rows(writing)
  const marks = pptxMarks()
  const math = officeMath(writing)
  const runs = runTexts(writing)
  let placeholder = ''
  let skipped = 0
  const endText = () => {
    const text = writing.leave()
    if (placeholder === 'title' || placeholder === 'ctrTitle') about.title ||= text
    else if (!unread.has(placeholder)) writing.say(text)
    writing.end()
  }
  return {
    open(name, attribute) {
      if (skipped > 0 || name === 'Fallback') return void skipped++
      math.open(name, attribute)
      if (name === 'sld') about.hidden = attribute('show') === '0' || attribute('show') === 'false'
      else if (name === 'sp' || name === 'graphicFrame') placeholder = ''
      else if (name === 'ph') placeholder = attribute('type') ?? ''
      else if (name === 'txBody') {
        writing.enter()
        marks.openText()
      } else if (name === 'br') writing.say('\n')
      else if (name === 'tbl') tables.openTable()
      else if (name === 'tr') tables.openRow()
      else if (name === 'tc') tables.openCell()
      else if (name === 'r') runs.begin()
      else if (name === 'rPr') runs.raise(Number.parseInt(attribute('baseline') ?? '0', 10) > 0)
      else marks.open(name, attribute)
    },
    close(name) {
      if (skipped > 0) return void skipped--
      math.close(name)
      if (name === 'txBody') endText()
      else if (name === 'p') {
        writing.mark(marks.endParagraph())
        writing.end()
        runs.paragraph()
        writing.mark('')
      } else if (name === 'tbl') tables.closeTable()
      else if (name === 'tr') tables.closeRow()
      else if (name === 'tc') tables.closeCell()
    },
    text(text, within) {
      if (skipped === 0 && within === 't') runs.say(text)
    },
    full: writing.full,
  }
}

/** The list marks of a shape's paragraphs. Only a paragraph's own marks count; marks of its layout do not. */
const pptxMarks = () => {
  const counts: number[] = []
  let level = 0
  let kind = ''
  let start = 1
  const begin = () => {
    level = 0
    kind = ''
    start = 1
  }
  return {
    openText: () => void (counts.length = 0),
    open(name: string, attribute: Attribute): void {
      if (name === 'p') begin()
      else if (name === 'pPr') level = Math.min(8, Math.max(0, Number(attribute('lvl') ?? 0) || 0))
      else if (name === 'buChar' || name === 'buBlip') kind = 'bullet'
      else if (name === 'buAutoNum') {
        kind = attribute('type') ?? 'arabicPeriod'
        const from = attribute('startAt') ?? ''
        start = /^\d{1,5}$/.test(from) ? Number(from) : 1
      }
    },
    endParagraph(): string {
      const indent = '  '.repeat(level)
      counts.length = Math.min(counts.length, level + 1)
      if (kind === '' || kind === 'bullet') {
        counts.length = Math.min(counts.length, level)
        return kind === '' ? indent : `${indent}- `
      }
      const count = (counts[level] ?? start - 1) + 1
      counts[level] = count
      const sign = numeral(count, countings[kind.replace(/(Period|ParenR|ParenBoth|Plain)$/, '')] ?? 'decimal')
      return `${indent}${kind.endsWith('ParenBoth') ? `(${sign})` : sign + (kind.endsWith('ParenR') ? ')' : '.')} `
    },
  }
}

const countings: Readonly<Record<string, Counting>> = {
  alphaLc: 'lower-letter',
  alphaUc: 'upper-letter',
  romanLc: 'lower-roman',
  romanUc: 'upper-roman',
}
