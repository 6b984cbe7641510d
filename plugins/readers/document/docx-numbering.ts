import { type Counting, numeral } from '../shared/document-numerals.ts'
import { scanXml } from '../shared/markup.ts'

/** The number or mark that Word prints before a list paragraph; '' for none. Each call advances the count. */
export type Numbering = (list: string, level: number) => string

/** One level; `%1` in the text stands for the count of the first level. */
interface Level {
  start: number
  format: string
  text: string
}

/** Lists that share the counts also share this object. */
interface List {
  readonly levels: Map<number, Level>
  readonly counts: number[]
}

const deepestLevel = 8

/** A file without this part has null here, and its lists have no marks. */
export const numberingOf = (bytes: Uint8Array | null): Numbering => {
  const lists = bytes === null ? new Map<string, List>() : read(bytes)
  return (id, level) => {
    const list = lists.get(id)
    if (!list || level < 0 || level > deepestLevel) return ''
    const { levels, counts } = list
    counts.length = level + 1
    for (let at = 0; at <= level; at++) counts[at] ??= (levels.get(at)?.start ?? 1) - (at === level ? 1 : 0)
    counts[level]!++
    const { format, text } = levels.get(level) ?? plain
    // Other programs give a blank to what goes on in an item.
    if (format === 'bullet') return /^\s+$/.test(text) ? '' : '-'
    if (format === 'none') return ''
    return text
      .replace(/%([1-9])/g, (_, digit: string) => {
        const of = Number(digit) - 1
        return numeral(counts[of] ?? 1, countings[levels.get(of)?.format ?? ''] ?? 'decimal')
      })
      .slice(0, 50)
  }
}

const plain: Level = { start: 1, format: 'decimal', text: '' }

const countings: Readonly<Record<string, Counting>> = {
  lowerLetter: 'lower-letter',
  upperLetter: 'upper-letter',
  lowerRoman: 'lower-roman',
  upperRoman: 'upper-roman',
}

/** Lists of one definition share a count, except lists with their own start. */
const read = (bytes: Uint8Array): ReadonlyMap<string, List> => {
  const definitions = new Map<string, List>()
  const lists = new Map<string, List>()
  let definition: List | null = null
  let level: Level = { ...plain }
  let list = ''
  let overridden = 0
  scanXml(bytes, {
    open(name, attribute) {
      const value = attribute('val') ?? ''
      if (name === 'abstractNum') {
        definition = { levels: new Map(), counts: [] }
        definitions.set(attribute('abstractNumId') ?? '', definition)
      } else if (name === 'num') {
        list = attribute('numId') ?? ''
        definition = null
      } else if (name === 'abstractNumId') {
        const made = definitions.get(value)
        if (made && list !== '') lists.set(list, made)
      } else if (name === 'lvlOverride') overridden = Number(attribute('ilvl'))
      else if (name === 'startOverride') {
        const made = lists.get(list)
        if (!made || !isLevel(overridden)) return
        const levels = new Map(made.levels)
        levels.set(overridden, { ...(levels.get(overridden) ?? plain), start: count(value) })
        lists.set(list, { levels, counts: [] })
      } else if (name === 'lvl') {
        level = { ...plain }
        const place = Number(attribute('ilvl'))
        const owner = isLevel(place) ? (definition ?? overriding(lists, list)) : undefined
        owner?.levels.set(place, level)
      } else if (name === 'start') level.start = count(value)
      else if (name === 'numFmt') level.format = value
      else if (name === 'lvlText') level.text = value
    },
  })
  return lists
}

/** Other numbers could make levels without end. */
const isLevel = (place: number): boolean => Number.isInteger(place) && place >= 0 && place <= deepestLevel

/** A list that overrides a level gets levels of its own, and counts on where its definition is. */
const overriding = (lists: Map<string, List>, id: string): List | undefined => {
  const made = lists.get(id)
  if (made) lists.set(id, { ...made, levels: new Map(made.levels) })
  return lists.get(id)
}

/** Anything but a plain number counts as 1. */
const count = (value: string): number => (/^\d{1,6}$/.test(value) ? Number(value) : 1)
