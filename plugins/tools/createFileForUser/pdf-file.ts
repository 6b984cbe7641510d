import { deflateSync } from 'node:zlib'
import { fonts } from './pdf-fonts.ts'

/** One page; the box of a link has two corners, in points from the lower left of the page. */
export interface Page {
  /** What a page shows, in the operators of PDF. */
  readonly shown: readonly string[]
  readonly links: readonly { readonly url: string; readonly box: readonly number[] }[]
}

/** An entry of the outline; `y` is in points from the lower edge of its page. */
export interface Bookmark {
  readonly title: string
  /** From 0. */
  readonly page: number
  readonly y: number
}

/** Points of A4. */
export const paper = { width: 595.28, height: 841.89 }

/** The bytes of a PDF. It names no time and no program, so that the same content gives the same bytes. */
export const pdfFile = (pages: readonly Page[], bookmarks: readonly Bookmark[], title: string | null): Uint8Array => {
  const objects: Buffer[] = []
  const add = (body: string | Buffer): number => objects.push(Buffer.from(body as string, 'latin1'))
  const [catalog, tree, info] = [add(''), add(''), add('')]
  const names = Object.entries(fonts).map(
    ([name, font]) => `/${name} ${add(`<</Type/Font/Subtype/Type1/BaseFont/${font}/Encoding/WinAnsiEncoding>>`)} 0 R`,
  )
  const kids = pages.map((page) => addPage(page, tree, names.join(' '), add))
  const outline = addOutline(bookmarks, kids, add)
  const set = (id: number, body: string): void => void (objects[id - 1] = Buffer.from(body, 'latin1'))
  set(catalog, `<</Type/Catalog/Pages ${tree} 0 R${outline === null ? '' : `/Outlines ${outline} 0 R`}>>`)
  set(tree, `<</Type/Pages/Count ${kids.length}/Kids[${kids.map((kid) => `${kid} 0 R`).join(' ')}]>>`)
  set(info, title === null ? '<<>>' : `<</Title ${wide(title)}>>`)
  return fileOf(objects, catalog, info)
}

type Add = (body: string | Buffer) => number

/** Returns the number of the page's object. */
const addPage = ({ shown, links }: Page, tree: number, names: string, add: Add): number => {
  const packed = deflateSync(Buffer.from(shown.join('\n'), 'latin1'))
  const head = `<</Length ${packed.length}/Filter/FlateDecode>>stream\n`
  const content = add(Buffer.concat([Buffer.from(head), packed, Buffer.from('\nendstream')]))
  const notes = links.map(({ url, box }) =>
    add(`<</Type/Annot/Subtype/Link/Border[0 0 0]/Rect[${box.join(' ')}]/A<</S/URI/URI ${bytesOf(asciiOf(url))}>>>>`),
  )
  const annots = notes.length === 0 ? '' : `/Annots[${notes.map((note) => `${note} 0 R`).join(' ')}]`
  return add(
    `<</Type/Page/Parent ${tree} 0 R/MediaBox[0 0 ${paper.width} ${paper.height}]/Resources<</Font<<${names}>>>>/Contents ${content} 0 R${annots}>>`,
  )
}

/** The number of the outline; null where there is none. */
const addOutline = (bookmarks: readonly Bookmark[], kids: readonly number[], add: Add): number | null => {
  if (bookmarks.length === 0) return null
  // The root is the object behind the last bookmark, and numbers follow each other.
  const first = add('null') + 1
  const root = first + bookmarks.length
  for (const [at, { title, page, y }] of bookmarks.entries()) {
    const before = at === 0 ? '' : `/Prev ${first + at - 1} 0 R`
    const behind = at === bookmarks.length - 1 ? '' : `/Next ${first + at + 1} 0 R`
    add(
      `<</Title ${wide(title)}/Parent ${root} 0 R${before}${behind}/Dest[${kids[page]} 0 R/XYZ 0 ${y.toFixed(2)} 0]>>`,
    )
  }
  return add(`<</Type/Outlines/First ${first} 0 R/Last ${root - 1} 0 R/Count ${bookmarks.length}>>`)
}

/** A string of codes, in hexadecimal digits: nothing in it can be taken for PDF. */
export const bytesOf = (codes: string): string => `<${Buffer.from(codes, 'latin1').toString('hex')}>`

/** A text string of PDF outside of Latin: UTF-16 with the greatest byte first, behind its mark. */
const wide = (text: string): string => `<feff${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`

/** Addresses in a PDF are ASCII; what is percent-encoded already stays as it is. */
const asciiOf = (url: string): string => encodeURI(url).replace(/%25([\dA-Fa-f]{2})/g, '%$1')

/** Each place in the table has ten digits and each entry twenty bytes, as PDF 1.4 prescribes. */
const fileOf = (objects: readonly Buffer[], catalog: number, info: number): Uint8Array => {
  // The bytes behind the first line tell transports that the file is binary.
  const pieces: Buffer[] = [Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
  let at = pieces[0]?.length ?? 0
  const places: string[] = []
  for (const [index, body] of objects.entries()) {
    const whole = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from('\nendobj\n')])
    places.push(`${String(at).padStart(10, '0')} 00000 n \n`)
    pieces.push(whole)
    at += whole.length
  }
  const size = objects.length + 1
  const tail = `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}trailer\n<</Size ${size}/Root ${catalog} 0 R/Info ${info} 0 R>>\nstartxref\n${at}\n%%EOF\n`
  return Buffer.concat([...pieces, Buffer.from(tail, 'latin1')])
}
