import type { DocumentWriter } from './document-writing.ts'
import type { Attribute } from './markup.ts'

/** An open element of a formula. */
interface Part {
  readonly name: string
  /** The line of a fraction, or the operator of a sum or an integral. */
  sign: string
  /** The brackets around a part, and what parts their contents. */
  begin: string
  apart: string
  end: string
  /** Cells and rows so far. */
  cells: number
}

/** Parts that are texts of their own, with the sign before them; that of a fraction is its own. */
const texts: Readonly<Record<string, string>> = { num: '', den: '', sup: '^', sub: '_', lim: '_', deg: '' }

const plain = /^[\p{L}\p{N}.,]+$/u

const grouped = (text: string): string => (plain.test(text) ? text : `(${text})`)

/** Formulas of Word and PowerPoint as one line such as `(a+b)/2`, in the form that Word calls linear. */
export const officeMath = (writing: DocumentWriter) => {
  const parts: Part[] = []
  const about = (value: string): void => {
    const [owner, name] = [parts.at(-3), parts.at(-1)?.name]
    if (owner?.name === 'f' && name === 'type' && value === 'noBar') owner.sign = '¦'
    else if (owner?.name === 'nary' && name === 'chr') owner.sign = value
    else if (owner?.name !== 'd') return
    else if (name === 'begChr') owner.begin = value
    else if (name === 'sepChr') owner.apart = value
    else if (name === 'endChr') owner.end = value
  }
  /** Cells of brackets and of rows, and rows of a matrix. */
  const begin = (name: string, owner: Part | undefined): void => {
    if (name === 'rad') writing.say('√(')
    else if (name === 'e' && owner?.name === 'd') writing.say(owner.cells++ === 0 ? owner.begin : owner.apart)
    else if (name === 'e' && owner?.name === 'mr') writing.say(owner.cells++ === 0 ? '' : '&')
    else if (name === 'e' && owner?.name === 'nary') writing.say(' ')
    else if (name === 'mr' && owner?.name === 'm') writing.say(owner.cells++ === 0 ? '■(' : '@')
  }
  const end = ({ name, cells, end }: Part, owner: Part | undefined): void => {
    if (name === 'rad' || (name === 'm' && cells > 0)) writing.say(')')
    else if (name === 'd' && cells > 0) writing.say(end)
    else if (name === 'naryPr') writing.say(owner?.sign ?? '')
  }
  return {
    open(name: string, attribute: Attribute): void {
      if (parts.length === 0 && name !== 'oMath') return
      const owner = parts.at(-1)
      parts.push({ name, sign: name === 'nary' ? '∫' : '/', begin: '(', apart: '|', end: ')', cells: 0 })
      about(attribute('val') ?? '')
      if (Object.hasOwn(texts, name)) writing.enter()
      else begin(name, owner)
    },
    close(name: string): void {
      const part = parts.pop()
      if (part === undefined) return
      const owner = parts.at(-1)
      if (!Object.hasOwn(texts, name)) return end(part, owner)
      const text = writing.leave()
      if (name === 'deg') writing.say(text === '' ? '' : `${text}&`)
      else if (text !== '') writing.say((name === 'den' ? (owner?.sign ?? '') : texts[name]!) + grouped(text))
    },
  }
}
