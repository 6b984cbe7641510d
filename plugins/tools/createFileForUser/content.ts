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

/** The text of one line or block, in the order of reading. */
export type Runs = readonly Run[]

/** A table; readers of Markdown and of CSV both make them. */
export interface Table {
  readonly kind: 'table'
  readonly head: readonly Runs[]
  /** Each as wide as the head. */
  readonly rows: readonly (readonly Runs[])[]
}

/** One item of a list, without the items below it: depth alone tells the nesting. */
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

/** Text outside of lists, or a further paragraph of a list's item. */
export interface Paragraph {
  readonly kind: 'paragraph'
  readonly runs: Runs
  /** How deep it stands in a list; 0 outside. */
  readonly depth: number
  readonly quoted: boolean
}

/** A heading names a sheet in a workbook and begins a slide in a presentation. */
export interface Heading {
  readonly kind: 'heading'
  /** From 1 to 6. */
  readonly level: number
  readonly runs: Runs
}

/** What all formats are made of; a line feed in code parts its lines. */
export type Block =
  Heading | Paragraph | Item | Table | { readonly kind: 'code'; readonly text: string } | { readonly kind: 'rule' }

/** Each word has a sentence for the caller, without a word of the content. */
export type Refusal = 'characters' | 'columns' | 'cells' | 'long-cell' | 'sheets' | 'blocks'

/** The content cannot become a file of the format. Tells why, and nothing of the content. */
export class Refused extends Error {
  readonly why: Refusal

  constructor(why: Refusal) {
    super(why)
    this.why = why
  }
}

/** The words alone, without the addresses of links. */
export const textOf = (runs: Runs): string => runs.map(({ text }) => text).join('')

/** The text, with the address behind the words of a link that don't say it. */
export const textWithLinks = (runs: Runs): string =>
  runs
    .map(({ text, link }) => (link === undefined || link.replace(/^mailto:/, '') === text ? text : `${text} (${link})`))
    .join('')

/** The first heading of the highest level, which names the file in its properties; null without headings. */
export const titleOf = (blocks: readonly Block[]): string | null => {
  const headings = blocks.filter((block) => block.kind === 'heading')
  const highest = headings.reduce((least, { level }) => Math.min(least, level), Infinity)
  const first = headings.find(({ level }) => level === highest)
  return first === undefined ? null : textOf(first.runs).replace(/\s+/g, ' ').trim().slice(0, 200)
}

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/** Whether the first letter of a text belongs to a script that runs from right to left. */
export const isRightToLeft = (text: string): boolean => rightToLeft.test(/\p{L}/u.exec(text)?.[0] ?? '')

/** True for a single such letter anywhere in the text: Word needs the mark for each run. */
export const hasRightToLeft = (text: string): boolean => rightToLeft.test(text)
