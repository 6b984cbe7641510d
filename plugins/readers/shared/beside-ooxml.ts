import { Unreadable } from '../../../core/errors.ts'
import type { Beside, Chart } from '../../../core/ports/file-content.ts'
import { unzip } from '../../shared/zip.ts'
import { type Gathering, gatherBeside, shortened } from './beside.ts'
import { type Parts, relationsOf } from './document-parts.ts'
import { scanXml } from './markup.ts'

const read =
  /^(_rels\/\.rels|(word|ppt|xl)\/((document|presentation|workbook|styles)\.xml|(header|footer|comments|commentAuthors)\d*\.xml|comments\/[^/]+\.xml|(slides|worksheets|charts)\/[^/]+\.xml|(.*\/)?_rels\/[^/]+\.rels))$/

/**
 * The parts of a docx, pptx or xlsx beside its text: links, alternative texts, charts, comments, headers, footers,
 * hidden text.
 */
export const besideOoxml = async (bytes: Uint8Array): Promise<Beside> => {
  const parts = await unzip(bytes, (name) => read.test(name))
  const gathering = gatherBeside()
  const places = placesOf(parts)
  const unseen = hiddenStyles(parts.get('word/styles.xml'))
  const speakers = authorsOf(parts.get('ppt/commentAuthors.xml'))
  for (const [name, part] of parts) {
    if (/comments/.test(name))
      gathering.attempt(() => readComments(part, places.get(name) ?? null, gathering, speakers))
    else if (/\/charts\/chart[^/]*\.xml$/.test(name)) gathering.attempt(() => gathering.add('charts', readChart(part)))
    else if (/word\/header/.test(name)) gathering.attempt(() => readRepeated(part, 'headers', gathering))
    else if (/word\/footer/.test(name)) gathering.attempt(() => readRepeated(part, 'footers', gathering))
    else if (name.endsWith('.xml') && !/(styles|commentAuthors)\.xml$/.test(name))
      gathering.attempt(() => readBody({ parts, name, at: places.get(name) ?? null, unseen }, gathering))
  }
  return gathering.finish()
}

/** A cell stands behind its sheet, as in `Sales!B2`; null when neither is known. */
const placed = (place: string | null, cell: string | null): string | null =>
  place === null || cell === null ? (cell ?? place) : `${place}!${cell}`

/** The places of slides, sheets and their comments: `slide 3`, or the name of the sheet. */
const placesOf = (parts: Parts): ReadonlyMap<string, string> => {
  const places = new Map<string, string>()
  let slides = 0
  for (const main of ['ppt/presentation.xml', 'xl/workbook.xml']) {
    const part = parts.get(main)
    if (!part) continue
    const targets = new Map(relationsOf(parts, main).map(({ id, target }) => [id, target]))
    scanXml(part, {
      open(element, attribute) {
        const target = targets.get(attribute('id') ?? '')
        if (target === undefined || (element !== 'sldId' && element !== 'sheet')) return
        const place = element === 'sldId' ? `slide ${++slides}` : (attribute('name') ?? '')
        places.set(target, place)
        for (const { kind, target: beside } of relationsOf(parts, target))
          if (kind === 'comments') places.set(beside, place)
      },
    })
  }
  return places
}

/** The external addresses of a part, by their ids. */
const addressesOf = (parts: Parts, name: string): ReadonlyMap<string, string> => {
  const addresses = new Map<string, string>()
  const rels = parts.get(name.replace(/([^/]+)$/, '_rels/$1.rels'))
  if (!rels) return addresses
  scanXml(rels, {
    open(element, attribute) {
      if (element === 'Relationship' && attribute('TargetMode') === 'External')
        addresses.set(attribute('Id') ?? '', attribute('Target') ?? '')
    },
  })
  return addresses
}

/** The ids of styles whose characters are hidden. A broken part has none. */
const hiddenStyles = (part: Uint8Array | undefined): ReadonlySet<string> => {
  const hidden = new Set<string>()
  let style = ''
  if (!part) return hidden
  try {
    scanXml(part, {
      open(element, attribute) {
        if (element === 'style') style = attribute('styleId') ?? ''
        else if (element === 'vanish' && isOn(attribute('val'))) hidden.add(style)
      },
    })
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
  }
  return hidden
}

/** A switch of WordprocessingML is on without a value. */
const isOn = (value: string | null): boolean => !/^(0|false|off)$/.test(value ?? '')

/** A part to read, with its place and the styles whose text is hidden. */
interface Body {
  readonly parts: Parts
  readonly name: string
  readonly at: string | null
  readonly unseen: ReadonlySet<string>
}

const readBody = ({ parts, name, at, unseen }: Body, gathering: Gathering): void => {
  const addresses = addressesOf(parts, name)
  const alternatives = name.startsWith('word/') ? 'docPr' : 'cNvPr'
  let link: { url: string; text: string; cell: string | null } | null = null
  let vanished = false
  let hidden = ''
  const endLink = () => {
    if (link) gathering.add('links', { url: link.url, text: shortened(link.text), at: placed(at, link.cell) })
    link = null
  }
  scanXml(parts.get(name)!, {
    open(element, attribute) {
      if (element === 'hyperlink' || element === 'hlinkClick') {
        const url = addresses.get(attribute('id') ?? '')
        if (url) link = { url: url.slice(0, 2_000), text: '', cell: attribute('ref') }
      } else if (element === alternatives) {
        const alt = shortened(attribute('descr') ?? '')
        if (alt !== '') gathering.add('images', { alt, at })
      } else if (element === 'r') vanished = false
      else if (element === 'rStyle' && unseen.has(attribute('val') ?? '')) vanished = true
      else if (element === 'vanish') vanished = isOn(attribute('val'))
    },
    text(text, within) {
      if (/^(odd|even|first)(Header|Footer)$/.test(within)) {
        const words = shortened(unmarked(text))
        if (words.includes(' ') || (words !== '' && !counted.test(text)))
          gathering.add(within.endsWith('Header') ? 'headers' : 'footers', words)
      }
      if (within !== 't') return
      if (link) link.text += text
      if (vanished) hidden += text
    },
    close(element) {
      // On a slide, the link of a run comes before its text.
      if (element === 'hyperlink' || element === 'r') endLink()
      if (element !== 'p' || hidden === '') return
      gathering.add('hidden', shortened(hidden))
      hidden = ''
    },
  })
  endLink()
}

/** Numbers of pages, names of sheets and files, times: with one word beside them a header is only a sample. */
const counted = /&[PNAFDT]/

/** A header of a sheet without its marks: places (&L, &C, &R), fonts, sizes, numbers of pages. */
const unmarked = (text: string): string =>
  text.replace(/&"[^"]*"|&K[0-9A-F]{6}|&\d+|&[A-Z]/g, ' ').replaceAll('&&', '&')

/** The people who commented on slides, by their numbers. */
const authorsOf = (part: Uint8Array | undefined): readonly string[] => {
  const authors: string[] = []
  if (!part) return authors
  scanXml(part, {
    open(element, attribute) {
      const id = Number(attribute('id') ?? NaN)
      if (element === 'cmAuthor' && id < 1_000) authors[id] = attribute('name') ?? ''
    },
  })
  return authors
}

/** Word names the author at each comment; Excel and PowerPoint keep a list of authors. */
const readComments = (part: Uint8Array, place: string | null, gathering: Gathering, known: readonly string[]): void => {
  const authors = [...known]
  let comment: { author: string | null; text: string; at: string | null } | null = null
  scanXml(part, {
    open(element, attribute) {
      if (element === 'author') authors.push('')
      if (element !== 'comment' && element !== 'cm') return
      const author = attribute('author') ?? authors[Number(attribute('authorId') ?? NaN)] ?? null
      comment = { author, text: '', at: placed(place, attribute('ref')) }
    },
    text(text, within) {
      if (within === 'author') authors[authors.length - 1] += text
      else if (comment && (within === 't' || within === 'text')) comment.text += text
    },
    close(element) {
      if (element === 'p' && comment) comment.text += ' '
      if ((element !== 'comment' && element !== 'cm') || !comment) return
      gathering.add('comments', { ...comment, text: shortened(comment.text) })
      comment = null
    },
  })
}

/** The header or footer of a Word document; an empty part is left out. */
const readRepeated = (part: Uint8Array, list: 'headers' | 'footers', gathering: Gathering): void => {
  let words = ''
  scanXml(part, {
    text: (text, within) => void (words += within === 't' ? text : ''),
    close: (element) => void (words += element === 'p' ? ' ' : ''),
  })
  if (shortened(words) !== '') gathering.add(list, shortened(words))
}

/** The largest number of series in a chart, and of values in a series. */
const chartLimits = { series: 100, values: 1_000 }

/** A null value is a place without a number. */
interface Series {
  name: string
  /** The cell that has the name, for a chart that keeps no copy of it. */
  cell: string
  readonly categories: string[]
  readonly values: (number | null)[]
}

/** The title and the series of a chart, with the values cached in the chart. Other values are in the cells. */
const readChart = (part: Uint8Array): Chart => {
  const series: Series[] = []
  const within: string[] = []
  let title = ''
  scanXml(part, {
    open(element) {
      within.push(element)
      if (element === 'ser' && series.length < chartLimits.series)
        series.push({ name: '', cell: '', categories: [], values: [] })
    },
    close: () => void within.pop(),
    text(text, element) {
      const current = within.includes('ser') ? series.at(-1) : undefined
      if (element === 't' && within.includes('title') && !within.includes('catAx') && !within.includes('valAx'))
        title += text
      if (!current) return
      if (element === 'f' && within.includes('tx')) current.cell += text
      if (element === 'v' && within.includes('tx')) current.name += text
      else if (element === 'v' && (within.includes('cat') || within.includes('xVal'))) add(current.categories, text)
      else if (element === 'v' && (within.includes('val') || within.includes('yVal')))
        add(current.values, Number.isFinite(Number(text)) ? Number(text) : null)
    },
  })
  return {
    title: shortened(title) || null,
    series: series.map(({ name, cell, ...drawn }) => ({ name: shortened(name || cell) || null, ...drawn })),
  }
}

/** Values beyond the limit are dropped. */
const add = <T>(list: T[], value: T): void => {
  if (list.length < chartLimits.values) list.push(value)
}
