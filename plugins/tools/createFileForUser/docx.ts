import {
  type Block,
  hasRightToLeft,
  isRightToLeft,
  type Item,
  Refused,
  type Run,
  type Runs,
  type Table,
  textOf,
  titleOf,
} from './content.ts'
import { escaped, type Link, namespaces, officeFile } from './office.ts'

/** Columns that Word takes. */
const mostColumns = 63
/** Twentieths of a point between the margins of A4. */
const width = 9_638

/** A Word document. */
export const docxOf = (blocks: readonly Block[]): Uint8Array => {
  const links = linking()
  const lists = countingLists(blocks)
  const body = blocks.map(
    (block, at) => blockOf(block, links.id, lists.idOf) + (isApart(block, blocks[at + 1]) ? '' : '<w:p/>'),
  )
  const page =
    '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1134" w:right="1134" w:bottom="1134" w:left="1134" w:header="709" w:footer="709" w:gutter="0"/></w:sectPr>'
  const content = `<w:document xmlns:w="${namespaces.w}" xmlns:r="${namespaces.r}"><w:body>${body.join('')}${page}</w:body></w:document>`
  const own: readonly Link[] = [
    { id: 'rId1', kind: 'styles', target: 'styles.xml' },
    { id: 'rId2', kind: 'numbering', target: 'numbering.xml' },
  ]
  return officeFile('word/document.xml', titleOf(blocks), [
    {
      name: 'word/document.xml',
      type: 'wordprocessingml.document.main',
      content,
      links: [...own, ...links.all()],
    },
    { name: 'word/styles.xml', type: 'wordprocessingml.styles', content: styles },
    { name: 'word/numbering.xml', type: 'wordprocessingml.numbering', content: numberingOf(lists.firsts) },
  ])
}

/** Word joins tables that nothing parts, and wants a paragraph behind the last one. */
const isApart = (block: Block, next: Block | undefined): boolean =>
  block.kind !== 'table' || (next !== undefined && next.kind !== 'table')

/** Each address gets one relationship, however often the text names it. Ids begin behind those of the own parts. */
const linking = () => {
  const ids = new Map<string, string>()
  return {
    id(target: string): string {
      const id = ids.get(target) ?? `rId${ids.size + 3}`
      ids.set(target, id)
      return id
    },
    all: (): readonly Link[] =>
      Array.from(ids, ([target, id]) => ({ id, kind: 'hyperlink', target, outside: true as const })),
  }
}

/** Each list that counts has a number of its own: Word would let a later list go on counting. */
const countingLists = (blocks: readonly Block[]) => {
  const firsts = new Map<number, Item>()
  for (const block of blocks)
    if (block.kind === 'item' && block.number !== null && !firsts.has(block.list)) firsts.set(block.list, block)
  const ids = new Map([...firsts.keys()].map((list, at) => [list, bullets + 1 + at]))
  return { firsts: [...firsts.values()], idOf: ({ list }: Item): number => ids.get(list) ?? bullets }
}

type IdOf<T> = (of: T) => string | number

/** Styles are named as Word names its own, so that its outline and its contents know the headings. */
const blockOf = (block: Block, link: IdOf<string>, list: IdOf<Item>): string => {
  switch (block.kind) {
    case 'heading':
      return paragraph(block.runs, link, `<w:pStyle w:val="Heading${block.level}"/>`)
    case 'paragraph':
      return paragraph(
        block.runs,
        link,
        block.quoted ? '<w:pStyle w:val="Quote"/>' : '',
        block.depth > 0 ? `<w:ind w:left="${360 * block.depth}"/>` : '',
      )
    case 'item':
      return paragraph(
        block.runs,
        link,
        `<w:pStyle w:val="ListParagraph"/><w:numPr><w:ilvl w:val="${block.depth}"/><w:numId w:val="${list(block)}"/></w:numPr>`,
      )
    case 'code':
      return paragraph([{ text: block.text }], link, '<w:pStyle w:val="Code"/>')
    case 'rule':
      return '<w:p><w:pPr><w:pBdr><w:bottom w:val="single" w:sz="6" w:space="1" w:color="999999"/></w:pBdr></w:pPr></w:p>'
    case 'table':
      return tableOf(block, link)
  }
}

/** Properties stand in the order of the schema: the direction between those before and after it. */
const paragraph = (runs: Runs, link: IdOf<string>, before = '', after = ''): string => {
  const properties = before + (isRightToLeft(textOf(runs)) ? '<w:bidi/>' : '') + after
  return `<w:p>${properties === '' ? '' : `<w:pPr>${properties}</w:pPr>`}${runs.map((run) => linked(run, link)).join('')}</w:p>`
}

const linked = (run: Run, link: IdOf<string>): string =>
  run.link === undefined ? runOf(run) : `<w:hyperlink r:id="${link(run.link)}">${runOf(run)}</w:hyperlink>`

const runOf = (run: Run): string => {
  const properties = [
    run.link === undefined ? '' : '<w:rStyle w:val="Hyperlink"/>',
    run.code ? '<w:rFonts w:ascii="Courier New" w:hAnsi="Courier New" w:cs="Courier New"/>' : '',
    run.bold ? '<w:b/><w:bCs/>' : '',
    run.italic ? '<w:i/><w:iCs/>' : '',
    run.struck ? '<w:strike/>' : '',
    hasRightToLeft(run.text) ? '<w:rtl/>' : '',
  ].join('')
  return `<w:r>${properties === '' ? '' : `<w:rPr>${properties}</w:rPr>`}${texts(run.text)}</w:r>`
}

/** Line ends and tabs are elements in Word; its text has none. */
const texts = (text: string): string =>
  text
    .split(/([\n\t])/)
    .map((part) => {
      if (part === '\n') return '<w:br/>'
      if (part === '\t') return '<w:tab/>'
      return part === '' ? '' : `<w:t xml:space="preserve">${escaped(part)}</w:t>`
    })
    .join('')

/** Throws Refused for more columns than Word takes. The head is repeated on each page. */
const tableOf = ({ head, rows }: Table, link: IdOf<string>): string => {
  if (head.length > mostColumns) throw new Refused('columns')
  const own = Math.floor(width / Math.max(1, head.length))
  const cell = (runs: Runs): string =>
    `<w:tc><w:tcPr><w:tcW w:w="${own}" w:type="dxa"/></w:tcPr>${paragraph(runs, link)}</w:tc>`
  const bold = head.map((runs) => runs.map((run): Run => ({ ...run, bold: true })))
  return [
    '<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="5000" w:type="pct"/></w:tblPr>',
    `<w:tblGrid>${`<w:gridCol w:w="${own}"/>`.repeat(head.length)}</w:tblGrid>`,
    `<w:tr><w:trPr><w:tblHeader/></w:trPr>${bold.map(cell).join('')}</w:tr>`,
    ...rows.map((row) => `<w:tr>${row.map(cell).join('')}</w:tr>`),
    '</w:tbl>',
  ].join('')
}

const w = `xmlns:w="${namespaces.w}"`

/** Half points of the letters of headings, from the first level. */
const sizes = [36, 30, 26, 24, 22, 22]

const headingStyle = (size: number, at: number): string =>
  `<w:style w:type="paragraph" w:styleId="Heading${at + 1}"><w:name w:val="heading ${at + 1}"/><w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:qFormat/><w:pPr><w:keepNext/><w:spacing w:before="280" w:after="100"/><w:outlineLvl w:val="${at}"/></w:pPr><w:rPr><w:b/><w:bCs/><w:sz w:val="${size}"/><w:szCs w:val="${size}"/></w:rPr></w:style>`

const borders = ['top', 'left', 'bottom', 'right', 'insideH', 'insideV']
  .map((side) => `<w:${side} w:val="single" w:sz="4" w:space="0" w:color="999999"/>`)
  .join('')

/** Sizes in half points and distances in twentieths of a point, as Office Open XML counts. */
const styles = [
  `<w:styles ${w}><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Arial"/><w:sz w:val="22"/><w:szCs w:val="22"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="264" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>`,
  '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>',
  ...sizes.map(headingStyle),
  '<w:style w:type="paragraph" w:styleId="ListParagraph"><w:name w:val="List Paragraph"/><w:basedOn w:val="Normal"/><w:pPr><w:spacing w:after="40"/></w:pPr></w:style>',
  '<w:style w:type="paragraph" w:styleId="Quote"><w:name w:val="Quote"/><w:basedOn w:val="Normal"/><w:pPr><w:ind w:left="567" w:right="567"/></w:pPr><w:rPr><w:i/><w:iCs/></w:rPr></w:style>',
  '<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Code"/><w:basedOn w:val="Normal"/><w:pPr><w:shd w:val="clear" w:color="auto" w:fill="F2F2F2"/><w:spacing w:line="240" w:lineRule="auto"/></w:pPr><w:rPr><w:rFonts w:ascii="Courier New" w:hAnsi="Courier New" w:cs="Courier New"/><w:sz w:val="19"/><w:szCs w:val="19"/></w:rPr></w:style>',
  '<w:style w:type="character" w:styleId="Hyperlink"><w:name w:val="Hyperlink"/><w:rPr><w:color w:val="0563C1"/><w:u w:val="single"/></w:rPr></w:style>',
  `<w:style w:type="table" w:default="1" w:styleId="TableNormal"><w:name w:val="Normal Table"/><w:tblPr><w:tblCellMar><w:left w:w="108" w:type="dxa"/><w:right w:w="108" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style>`,
  `<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:basedOn w:val="TableNormal"/><w:tblPr><w:tblBorders>${borders}</w:tblBorders></w:tblPr></w:style>`,
  '</w:styles>',
].join('')

const signs = ['•', '◦', '▪']

/** Nine levels, as Word has them; distances in twentieths of a point. */
const abstractList = (id: number, level: (at: number) => string): string => {
  const levels = Array.from({ length: 9 }, (_, at) => {
    const left = 360 * (at + 1)
    return `<w:lvl w:ilvl="${at}"><w:start w:val="1"/>${level(at)}<w:lvlJc w:val="left"/><w:pPr><w:ind w:left="${left}" w:hanging="360"/></w:pPr></w:lvl>`
  })
  return `<w:abstractNum w:abstractNumId="${id}"><w:multiLevelType w:val="hybridMultilevel"/>${levels.join('')}</w:abstractNum>`
}

/** The number of the list of bullets; each list that counts has one of its own behind it. */
const bullets = 1

/** The lists of a document. A numbered list begins with the number of its first item. */
const numberingOf = (firsts: readonly Item[]): string => {
  const bulleted = abstractList(0, (at) => `<w:numFmt w:val="bullet"/><w:lvlText w:val="${signs[at % 3]}"/>`)
  const counted = abstractList(1, (at) => `<w:numFmt w:val="decimal"/><w:lvlText w:val="%${at + 1}."/>`)
  const lists = firsts.map(
    ({ depth, number }, at) =>
      `<w:num w:numId="${bullets + 1 + at}"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="${depth}"><w:startOverride w:val="${number ?? 1}"/></w:lvlOverride></w:num>`,
  )
  return `<w:numbering ${w}>${bulleted}${counted}<w:num w:numId="${bullets}"><w:abstractNumId w:val="0"/></w:num>${lists.join('')}</w:numbering>`
}
