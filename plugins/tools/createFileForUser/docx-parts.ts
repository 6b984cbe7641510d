import type { Item } from './content.ts'
import { namespaces } from './office.ts'

const w = `xmlns:w="${namespaces.w}"`

/** Half points of the letters of headings, from the first level. */
const sizes = [36, 30, 26, 24, 22, 22]

const headingStyle = (size: number, at: number): string =>
  `<w:style w:type="paragraph" w:styleId="Heading${at + 1}"><w:name w:val="heading ${at + 1}"/><w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:qFormat/><w:pPr><w:keepNext/><w:spacing w:before="280" w:after="100"/><w:outlineLvl w:val="${at}"/></w:pPr><w:rPr><w:b/><w:bCs/><w:sz w:val="${size}"/><w:szCs w:val="${size}"/></w:rPr></w:style>`

const borders = ['top', 'left', 'bottom', 'right', 'insideH', 'insideV']
  .map((side) => `<w:${side} w:val="single" w:sz="4" w:space="0" w:color="999999"/>`)
  .join('')

/** Sizes in half points and distances in twentieths of a point, as Office Open XML counts. */
export const styles = [
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
export const bullets = 1

/** The lists of a document. A numbered list begins with the number of its first item. */
export const numberingOf = (firsts: readonly Item[]): string => {
  const bulleted = abstractList(0, (at) => `<w:numFmt w:val="bullet"/><w:lvlText w:val="${signs[at % 3]}"/>`)
  const counted = abstractList(1, (at) => `<w:numFmt w:val="decimal"/><w:lvlText w:val="%${at + 1}."/>`)
  const lists = firsts.map(
    ({ depth, number }, at) =>
      `<w:num w:numId="${bullets + 1 + at}"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="${depth}"><w:startOverride w:val="${number ?? 1}"/></w:lvlOverride></w:num>`,
  )
  return `<w:numbering ${w}>${bulleted}${counted}<w:num w:numId="${bullets}"><w:abstractNumId w:val="0"/></w:num>${lists.join('')}</w:numbering>`
}
