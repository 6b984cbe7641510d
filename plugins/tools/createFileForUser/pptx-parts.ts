import { type Link, namespaces, type Part } from './office.ts'

const { a, p, r } = namespaces
/** The three namespaces that every part of a presentation declares. */
export const spaces = `xmlns:a="${a}" xmlns:p="${p}" xmlns:r="${r}"`

/** The frame of every tree of shapes. */
export const tree = (shapes: string): string =>
  `<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>${shapes}</p:spTree></p:cSld>`

/** Places in English Metric Units on a slide of 13.33 by 7.5 inches. */
export const places = {
  title: '<a:xfrm><a:off x="609600" y="365760"/><a:ext cx="10972800" cy="914400"/></a:xfrm>',
  body: '<a:xfrm><a:off x="609600" y="1463040"/><a:ext cx="10972800" cy="4937760"/></a:xfrm>',
} as const

/** Ids count within a slide. `own` is a place, empty where that of the layout holds. */
export const shape = (id: number, kind: 'title' | 'body', own: string, paragraphs: string): string => {
  const place = kind === 'title' ? '<p:ph type="title"/>' : '<p:ph type="body" idx="1"/>'
  return `<p:sp><p:nvSpPr><p:cNvPr id="${id}" name="${kind === 'title' ? 'Title' : 'Text'} ${id}"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr>${place}</p:nvPr></p:nvSpPr><p:spPr>${own}</p:spPr><p:txBody><a:bodyPr><a:normAutofit/></a:bodyPr><a:lstStyle/>${paragraphs}</p:txBody></p:sp>`
}

const empty = '<a:p><a:endParaRPr/></a:p>'
const frame = shape(2, 'title', places.title, empty) + shape(3, 'body', places.body, empty)
const colours = 'bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"' // prettier-ignore

const levels = Array.from({ length: 9 }, (_, at) => {
  const left = 285_750 * (at + 1)
  return `<a:lvl${at + 1}pPr marL="${left}" indent="-285750"><a:spcBef><a:spcPts val="600"/></a:spcBef><a:buFont typeface="Arial"/><a:buChar char="•"/><a:defRPr sz="${at === 0 ? 1800 : 1600}"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill><a:latin typeface="+mn-lt"/></a:defRPr></a:lvl${at + 1}pPr>`
}).join('')

const titleLevel =
  '<a:lvl1pPr><a:buNone/><a:defRPr sz="3200" b="1"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill><a:latin typeface="+mj-lt"/></a:defRPr></a:lvl1pPr>'

const master = `<p:sldMaster ${spaces}>${tree(frame).replace('<p:cSld>', '<p:cSld><p:bg><p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef></p:bg>')}<p:clrMap ${colours}/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst><p:txStyles><p:titleStyle>${titleLevel}</p:titleStyle><p:bodyStyle>${levels}</p:bodyStyle><p:otherStyle/></p:txStyles></p:sldMaster>`

const layout = `<p:sldLayout ${spaces} type="obj">${tree(frame).replace('<p:cSld>', '<p:cSld name="Title and text">')}<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>`

const scheme = [
  ...[['dk1', '000000'], ['lt1', 'FFFFFF'], ['dk2', '1F2A44'], ['lt2', 'EEECE1'], ['accent1', '4472C4']], // prettier-ignore
  ...[
    ['accent2', 'ED7D31'],
    ['accent3', 'A5A5A5'],
    ['accent4', 'FFC000'],
    ['accent5', '5B9BD5'],
  ],
  ...[
    ['accent6', '70AD47'],
    ['hlink', '0563C1'],
    ['folHlink', '954F72'],
  ],
]
const solid = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
const font = '<a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/>'
const theme = [
  `<a:theme xmlns:a="${a}" name="Plain"><a:themeElements><a:clrScheme name="Plain">`,
  ...scheme.map(([name, colour]) => `<a:${name}><a:srgbClr val="${colour}"/></a:${name}>`),
  `</a:clrScheme><a:fontScheme name="Plain"><a:majorFont>${font}</a:majorFont><a:minorFont>${font}</a:minorFont></a:fontScheme>`,
  `<a:fmtScheme name="Plain"><a:fillStyleLst>${solid.repeat(3)}</a:fillStyleLst>`,
  `<a:lnStyleLst>${`<a:ln w="9525">${solid}</a:ln>`.repeat(3)}</a:lnStyleLst>`,
  `<a:effectStyleLst>${'<a:effectStyle><a:effectLst/></a:effectStyle>'.repeat(3)}</a:effectStyleLst>`,
  `<a:bgFillStyleLst>${solid.repeat(3)}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`,
].join('')

const themeLink: Link = { id: 'rId2', kind: 'theme', target: '../theme/theme1.xml' }

/** The parts that every presentation has: one master, one layout, one theme. */
export const commonParts: readonly Part[] = [
  {
    name: 'ppt/slideMasters/slideMaster1.xml',
    type: 'presentationml.slideMaster',
    content: master,
    links: [{ id: 'rId1', kind: 'slideLayout', target: '../slideLayouts/slideLayout1.xml' }, themeLink],
  },
  {
    name: 'ppt/slideLayouts/slideLayout1.xml',
    type: 'presentationml.slideLayout',
    content: layout,
    links: [{ id: 'rId1', kind: 'slideMaster', target: '../slideMasters/slideMaster1.xml' }],
  },
  { name: 'ppt/theme/theme1.xml', type: 'theme', content: theme },
]
