import {
  type Block,
  isRightToLeft,
  type Run,
  type Runs,
  type Table,
  textOf,
  titleOf,
  type Item,
  type Paragraph,
  Refused,
} from './content.ts'
import { escaped, type Link, officeFile, type Part } from './office.ts'
import { commonParts, shape, spaces, tree } from './pptx-parts.ts'

/** A presentation. */
export const pptxOf = (blocks: readonly Block[]): Uint8Array => {
  const slides = slidesOf(blocks).map(partOf)
  const own = slides.map((_, at) => ({ id: `rId${at + 2}`, kind: 'slide', target: `slides/slide${at + 1}.xml` }))
  const ids = own.map(({ id }, at) => `<p:sldId id="${256 + at}" r:id="${id}"/>`)
  return officeFile('ppt/presentation.xml', titleOf(blocks), [
    {
      name: 'ppt/presentation.xml',
      type: 'presentationml.presentation.main',
      content: `<p:presentation ${spaces}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst>${ids.join('')}</p:sldIdLst><p:sldSz cx="12192000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`,
      links: [{ id: 'rId1', kind: 'slideMaster', target: 'slideMasters/slideMaster1.xml' }, ...own],
    },
    ...commonParts,
    ...slides,
  ])
}

/** Ids of links count within a slide; the first one is the layout's. */
const partOf = ({ title, lines, table }: Slide, at: number): Part => {
  const links = new Map<string, string>()
  const link = (target: string): string => {
    const id = links.get(target) ?? `rId${links.size + 2}`
    links.set(target, id)
    return id
  }
  const body = table === null ? shape(3, 'body', '', paragraphs(lines, link)) : tableOf(table, link)
  const shapes = shape(2, 'title', '', paragraph(title, '', '', link)) + body
  const outside = () => Array.from(links, ([target, id]): Link => ({ id, kind: 'hyperlink', target, outside: true }))
  return {
    name: `ppt/slides/slide${at + 1}.xml`,
    type: 'presentationml.slide',
    content: `<p:sld ${spaces}>${tree(shapes)}<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>`,
    links: [{ id: 'rId1', kind: 'slideLayout', target: '../slideLayouts/slideLayout1.xml' }, ...outside()],
  }
}

type IdOf = (target: string) => string

const paragraphs = (lines: readonly Line[], link: IdOf): string =>
  lines.length === 0 ? '<a:p/>' : lines.map((line) => lineOf(line, link)).join('')

/** PowerPoint has nine levels from 0, and numbers lists up to 32,767. */
const lineOf = (line: Line, link: IdOf): string => {
  const level = line.depth > 0 ? ` lvl="${Math.min(line.depth, 8)}"` : ''
  if (line.kind === 'item') {
    const count = `<a:buFont typeface="+mj-lt"/><a:buAutoNum type="arabicPeriod" startAt="${Math.min(Math.max(line.number ?? 1, 1), 32_767)}"/>`
    return paragraph(line.runs, level, line.number === null ? '' : count, link)
  }
  return paragraph(line.runs, `${level}${line.depth > 0 ? '' : ' marL="0"'} indent="0"`, '<a:buNone/>', link)
}

/** Attributes come before the bullet, as the schema orders them. */
const paragraph = (runs: Runs, attributes: string, bullet: string, link: IdOf): string => {
  const turned = isRightToLeft(textOf(runs)) ? ' algn="r" rtl="1"' : ''
  const properties = attributes + turned + bullet === '' ? '' : `<a:pPr${attributes}${turned}>${bullet}</a:pPr>`
  return `<a:p>${properties}${runs.map((run) => runOf(run, link)).join('')}</a:p>`
}

const runOf = (run: Run, link: IdOf): string => {
  const look = `${run.bold ? ' b="1"' : ''}${run.italic ? ' i="1"' : ''}${run.struck ? ' strike="sngStrike"' : ''}`
  const font = run.code ? '<a:latin typeface="Courier New"/>' : ''
  const target = run.link === undefined ? '' : `<a:hlinkClick r:id="${link(run.link)}"/>`
  const properties = `<a:rPr${look}>${font}${target}</a:rPr>`
  return run.text
    .split('\n')
    .map((text) => (text === '' ? '' : `<a:r>${properties}<a:t>${escaped(text)}</a:t></a:r>`))
    .join('<a:br/>')
}

/** English Metric Units. */
const [left, top, width, rowHeight] = [609_600, 1_463_040, 10_972_800, 400_000]

const borders = ['L', 'R', 'T', 'B']
  .map((side) => `<a:ln${side} w="6350"><a:solidFill><a:srgbClr val="999999"/></a:solidFill></a:ln${side}>`)
  .join('')

const tableOf = ({ head, rows }: Table, link: IdOf): string => {
  const own = Math.floor(width / Math.max(1, head.length))
  const small = (runs: Runs, bold: boolean): Runs => (bold ? runs.map((run): Run => ({ ...run, bold: true })) : runs)
  const cell = (runs: Runs, bold: boolean): string => {
    const text = paragraph(small(runs, bold), '', '', link).replaceAll('<a:rPr', '<a:rPr sz="1400"')
    return `<a:tc><a:txBody><a:bodyPr/><a:lstStyle/>${text}</a:txBody><a:tcPr>${borders}</a:tcPr></a:tc>`
  }
  const row = (cells: readonly Runs[], bold: boolean): string =>
    `<a:tr h="${rowHeight}">${cells.map((runs) => cell(runs, bold)).join('')}</a:tr>`
  const frame = `<p:xfrm><a:off x="${left}" y="${top}"/><a:ext cx="${width}" cy="${rowHeight * (rows.length + 1)}"/></p:xfrm>`
  const grid = `<a:tblGrid>${`<a:gridCol w="${own}"/>`.repeat(head.length)}</a:tblGrid>`
  return `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="3" name="Table 3"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>${frame}<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl><a:tblPr firstRow="1"/>${grid}${row(head, true)}${rows.map((cells) => row(cells, false)).join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`
}

/** A heading below the second level and a line of code become paragraphs. */
type Line = Item | Paragraph

/** Lines of text, or one table. */
interface Slide {
  readonly title: Runs
  readonly lines: readonly Line[]
  readonly table: Table | null
}

const mostSlides = 1_000
const mostColumns = 25
/** What fits on a slide: lines of text, the characters of one, rows of a table. */
const fits = { lines: 13, characters: 75, rows: 11 }

/** A slide for each heading of the first two levels; what does not fit goes on to the next one under the same title. */
const slidesOf = (blocks: readonly Block[]): readonly Slide[] => {
  const slides: Slide[] = []
  let title: Runs = []
  let lines: Line[] = []
  let isShown = true
  const show = (table: Table | null): void => {
    slides.push({ title, lines, table })
    if (slides.length > mostSlides) throw new Refused('blocks')
    lines = []
    isShown = true
  }
  const close = (): void => {
    if (lines.length > 0 || !isShown) show(null)
  }
  let room = fits.lines
  for (const block of blocks) {
    if (block.kind === 'heading' && block.level <= 2) {
      close()
      title = block.runs
      isShown = false
      room = fits.lines
    } else if (block.kind === 'table') {
      if (lines.length > 0) show(null)
      for (const part of tableParts(block)) show(part)
      room = fits.lines
    } else
      for (const line of linesOf(block)) {
        const height = heightOf(line)
        if (height > room && lines.length > 0) {
          show(null)
          room = fits.lines
        }
        lines.push(line)
        room -= height
      }
  }
  close()
  return slides.length === 0 ? [{ title: [], lines: [], table: null }] : slides
}

/** In lines of the slide, by the count of characters: no font is measured. */
const heightOf = ({ runs }: Line): number =>
  textOf(runs)
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / fits.characters)), 0)

/** A rule has no line: on a slide it would part nothing. */
const linesOf = (block: Exclude<Block, Table>): readonly Line[] => {
  const plain = (runs: Runs): Line => ({ kind: 'paragraph', runs, depth: 0, quoted: false })
  if (block.kind === 'rule') return []
  if (block.kind === 'heading') return [plain(block.runs.map((run): Run => ({ ...run, bold: true })))]
  if (block.kind === 'code') return block.text.split('\n').map((text) => plain([{ text, code: true }]))
  return [block]
}

/** Each part repeats the head. Throws Refused for more columns than a slide shows. */
const tableParts = ({ head, rows }: Table): readonly Table[] => {
  if (head.length > mostColumns) throw new Refused('columns')
  const count = Math.max(1, Math.ceil(rows.length / fits.rows))
  return Array.from({ length: count }, (_, at) => ({
    kind: 'table',
    head,
    rows: rows.slice(at * fits.rows, (at + 1) * fits.rows),
  }))
}
