import { type Counting, numeral } from '../shared/document-numerals.ts'
import type { Attribute } from '../shared/markup.ts'

/** The list marks of a shape's paragraphs. Only a paragraph's own marks count; marks of its layout do not. */
export const pptxMarks = () => {
  const counts: number[] = []
  let level = 0
  let kind = ''
  let start = 1
  const begin = () => {
    level = 0
    kind = ''
    start = 1
  }
  return {
    openText: () => void (counts.length = 0),
    open(name: string, attribute: Attribute): void {
      if (name === 'p') begin()
      else if (name === 'pPr') level = Math.min(8, Math.max(0, Number(attribute('lvl') ?? 0) || 0))
      else if (name === 'buChar' || name === 'buBlip') kind = 'bullet'
      else if (name === 'buAutoNum') {
        kind = attribute('type') ?? 'arabicPeriod'
        const from = attribute('startAt') ?? ''
        start = /^\d{1,5}$/.test(from) ? Number(from) : 1
      }
    },
    endParagraph(): string {
      const indent = '  '.repeat(level)
      counts.length = Math.min(counts.length, level + 1)
      if (kind === '' || kind === 'bullet') {
        counts.length = Math.min(counts.length, level)
        return kind === '' ? indent : `${indent}- `
      }
      const count = (counts[level] ?? start - 1) + 1
      counts[level] = count
      const sign = numeral(count, countings[kind.replace(/(Period|ParenR|ParenBoth|Plain)$/, '')] ?? 'decimal')
      return `${indent}${kind.endsWith('ParenBoth') ? `(${sign})` : sign + (kind.endsWith('ParenR') ? ')' : '.')} `
    },
  }
}

const countings: Readonly<Record<string, Counting>> = {
  alphaLc: 'lower-letter',
  alphaUc: 'upper-letter',
  romanLc: 'lower-roman',
  romanUc: 'upper-roman',
}
