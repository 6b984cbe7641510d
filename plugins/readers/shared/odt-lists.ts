import { type Counting, countings, numeral } from './document-numerals.ts'
import type { Attribute } from './markup.ts'

/** The marks of OpenDocument lists, in reading order. */
export interface Lists {
  /** Learns a list style of the document. */
  open(name: string, attribute: Attribute): void
  openList(style: string | null, continues: boolean): void
  closeList(): void
  /** The mark before an item, with its indent. */
  item(start: string | null): string
}

/** One level of a list style. Null counting stands for a bullet, or for no mark. */
interface Level {
  readonly counting: Counting | null
  readonly before: string
  readonly after: string
  /** The number of levels that a mark shows. */
  readonly shown: number
  readonly start: number
}

/** Counts go on across lists of one style only where the document says so. */
export const lists = (): Lists => {
  const styles = new Map<string, Map<number, Level>>()
  const counted = new Map<string, number[]>()
  const within: string[] = []
  let learning: Map<number, Level> | null = null
  const levelOf = (depth: number) => styles.get(within.at(-1) ?? '')?.get(depth) ?? null
  return {
    open(name, attribute) {
      if (name === 'list-style') {
        learning = new Map()
        styles.set(attribute('name') ?? '', learning)
      }
      if (!name.startsWith('list-level-style-')) return
      const numbered = name === 'list-level-style-number'
      learning?.set(number(attribute('level')), {
        counting: numbered ? (countings[attribute('num-format') ?? ''] ?? null) : null,
        before: numbered ? (attribute('num-prefix') ?? '') : '-',
        after: attribute('num-suffix') ?? '',
        shown: number(attribute('display-levels')),
        start: number(attribute('start-value')),
      })
    },
    openList(style, continues) {
      within.push(style ?? within.at(-1) ?? '')
      if (within.length === 1 && !continues) counted.delete(within[0]!)
    },
    closeList: () => void within.pop(),
    item(start) {
      const depth = within.length
      const counts = counted.get(within[0]!) ?? []
      counted.set(within[0]!, counts)
      counts.length = depth
      const level = levelOf(depth)
      for (let at = 0; at < depth; at++) counts[at] ??= (levelOf(at + 1)?.start ?? 1) - (at === depth - 1 ? 1 : 0)
      counts[depth - 1] = start === null ? counts[depth - 1]! + 1 : number(start)
      const indent = '  '.repeat(Math.min(depth - 1, 20))
      if (!level) return `${indent}- `
      if (!level.counting) return level.before === '' ? indent : `${indent}${level.before} `
      const shown = counts
        .slice(-level.shown)
        .map((count, at, all) => numeral(count, levelOf(depth - all.length + at + 1)?.counting ?? 'decimal'))
      return `${indent}${level.before}${shown.join('.')}${level.after} `
    },
  }
}

/** Anything but a plain positive number counts as 1. */
const number = (value: string | null): number => (/^[1-9]\d{0,5}$/.test(value ?? '') ? Number(value) : 1)
