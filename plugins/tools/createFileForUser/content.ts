/** A stretch of text in one style; a line feed in it breaks the line. */
export interface Run {
  readonly text: string
  readonly bold?: true
  readonly italic?: true
  readonly code?: true
  readonly struck?: true
  /** An address of the web or of mail. */
  readonly link?: string
}

export type Runs = readonly Run[]

export interface Table {
  readonly kind: 'table'
  readonly head: readonly Runs[]
  /** Each as wide as the head. */
  readonly rows: readonly (readonly Runs[])[]
}

export interface Item {
  readonly kind: 'item'
  /** From 0. */
  readonly depth: number
  /** The list that it belongs to; lists that count begin anew with each. */
  readonly list: number
  /** Null for a bullet. */
  readonly number: number | null
  readonly runs: Runs
}

export interface Paragraph {
  readonly kind: 'paragraph'
  readonly runs: Runs
  /** How deep it stands in a list; 0 outside. */
  readonly depth: number
  readonly quoted: boolean
}

export interface Heading {
  readonly kind: 'heading'
  /** From 1 to 6. */
  readonly level: number
  readonly runs: Runs
}

export type Block =
  Heading | Paragraph | Item | Table | { readonly kind: 'code'; readonly text: string } | { readonly kind: 'rule' }

export type Refusal = 'characters' | 'columns' | 'cells' | 'long-cell' | 'sheets' | 'blocks'

/** The content cannot become a file of the format. Tells why, and nothing of the content. */
export class Refused extends Error {
  readonly why: Refusal

  constructor(why: Refusal) {
    super(why)
    this.why = why
  }
}

export const textOf = (runs: Runs): string => runs.map(({ text }) => text).join('')

/** The text, with the address behind the words of a link that don't say it. */
export const textWithLinks = (runs: Runs): string =>
  runs
    .map(({ text, link }) => (link === undefined || link.replace(/^mailto:/, '') === text ? text : `${text} (${link})`))
    .join('')

/** The first heading of the highest level, which names the file in its properties; null without headings. */
export const titleOf = (blocks: readonly Block[]): string | null => {
  const headings = blocks.filter((block) => block.kind === 'heading')
  const highest = Math.min(...headings.map(({ level }) => level))
  const first = headings.find(({ level }) => level === highest)
  return first === undefined ? null : textOf(first.runs).replace(/\s+/g, ' ').trim().slice(0, 200)
}

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/** Whether the first letter of a text belongs to a script that runs from right to left. */
export const isRightToLeft = (text: string): boolean => rightToLeft.test(/\p{L}/u.exec(text)?.[0] ?? '')

export const hasRightToLeft = (text: string): boolean => rightToLeft.test(text)
