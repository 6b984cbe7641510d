import type { Beside } from '../../../core/ports/file-content.ts'
import { unzip } from '../../shared/zip.ts'
import { type Gathering, gatherBeside, shortened } from './beside.ts'
import { readChart } from './chart-ooxml.ts'
import { type Parts, relationsOf } from './document-parts.ts'
import { scan } from './markup.ts'

const read =
  /^(_rels\/\.rels|(word|ppt|xl)\/((document|presentation|workbook)\.xml|(header|footer|comments)\d*\.xml|comments\/[^/]+\.xml|(slides|worksheets|charts)\/[^/]+\.xml|(.*\/)?_rels\/[^/]+\.rels))$/

/**
 * The parts of a docx, pptx or xlsx beside its text: links, alternative texts, charts, comments, headers, footers,
 * hidden text.
 */
export const besideOoxml = async (bytes: Uint8Array): Promise<Beside> => {
  const parts = await unzip(bytes, (name) => read.test(name))
  const gathering = gatherBeside()
  const places = placesOf(parts)
  for (const [name, part] of parts) {
    if (/comments/.test(name)) gathering.attempt(() => readComments(part, places.get(name) ?? null, gathering))
    else if (/\/charts\/chart[^/]*\.xml$/.test(name)) gathering.attempt(() => gathering.add('charts', readChart(part)))
    else if (/word\/header/.test(name)) gathering.attempt(() => readRepeated(part, 'headers', gathering))
    else if (/word\/footer/.test(name)) gathering.attempt(() => readRepeated(part, 'footers', gathering))
    else if (name.endsWith('.xml')) gathering.attempt(() => readBody(parts, name, places.get(name) ?? null, gathering))
  }
  return gathering.finish()
}

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
    scan(part, {
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
  scan(rels, {
    open(element, attribute) {
      if (element === 'Relationship' && attribute('TargetMode') === 'External')
        addresses.set(attribute('Id') ?? '', attribute('Target') ?? '')
    },
  })
  return addresses
}

const readBody = (parts: Parts, name: string, at: string | null, gathering: Gathering): void => {
  const addresses = addressesOf(parts, name)
  const alternatives = name.startsWith('word/') ? 'docPr' : 'cNvPr'
  let link: { url: string; text: string; cell: string | null } | null = null
  let vanished = false
  let hidden = ''
  const endLink = () => {
    if (link) gathering.add('links', { url: link.url, text: shortened(link.text), at: placed(at, link.cell) })
    link = null
  }
  scan(parts.get(name)!, {
    open(element, attribute) {
      if (element === 'hyperlink' || element === 'hlinkClick') {
        const url = addresses.get(attribute('id') ?? '')
        if (url) link = { url: url.slice(0, 2_000), text: '', cell: attribute('ref') }
      } else if (element === alternatives) {
        const alt = shortened(attribute('descr') ?? '')
        if (alt !== '') gathering.add('images', { alt, at })
      } else if (element === 'r') vanished = false
      else if (element === 'vanish') vanished = !/^(0|false|off)$/.test(attribute('val') ?? '')
    },
    text(text, within) {
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

const readComments = (part: Uint8Array, place: string | null, gathering: Gathering): void => {
  const authors: string[] = []
  let comment: { author: string | null; text: string; at: string | null } | null = null
  scan(part, {
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

const readRepeated = (part: Uint8Array, list: 'headers' | 'footers', gathering: Gathering): void => {
  let said = ''
  scan(part, {
    text: (text, within) => void (said += within === 't' ? text : ''),
    close: (element) => void (said += element === 'p' ? ' ' : ''),
  })
  if (shortened(said) !== '') gathering.add(list, shortened(said))
}
