import { el, freshId, svg } from './element.ts'

export interface Bar {
  readonly name: string
  /** What is known; several parts stand upon each other. */
  readonly solid: number | readonly number[]
  /** What is hatched upon it. */
  readonly hatched: number
  /** The bar in words. */
  readonly words: string
}

export interface Plot {
  readonly title: string
  readonly bars: readonly Bar[]
  /** A value of the axis in words. */
  worded(value: number): string
  /** What hatched stands for. */
  readonly hatchedWords: string
  /** What the parts of the bars stand for. */
  readonly parts?: readonly string[]
}

const height = 160

const hatching = (id: string): SVGElement =>
  svg(
    'pattern',
    { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    svg('rect', { width: 6, height: 6, class: 'hatch-ground' }),
    svg('line', { x1: 0, y1: 0, x2: 0, y2: 6, class: 'hatch-line' }),
  )

const partsOf = ({ solid }: Pick<Bar, 'solid'>): readonly number[] => (typeof solid === 'number' ? [solid] : solid)

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** The class of a part. One part alone has the colour of the page. */
const colourOf = (part: number, of: number): string => (of === 1 ? 'solid' : `dot curve-${part}`)

const barOf = (bar: Bar, at: number, of: number, most: number, pattern: string): SVGElement => {
  const { hatched, words } = bar
  const tall = (value: number) => (most === 0 ? 0 : (value / most) * (height - 4))
  const place = { x: `${((at + 0.1) / of) * 100}%`, width: `${(0.8 / of) * 100}%` }
  const parts = partsOf(bar)
  const [low, high] = [tall(sumOf(parts)), tall(hatched)]
  return svg(
    'g',
    {},
    svg('title', {}, words),
    svg('rect', { x: `${(at / of) * 100}%`, width: `${100 / of}%`, y: 0, height, class: 'ground' }),
    parts.map((part, which) =>
      svg('rect', {
        ...place,
        y: height - tall(sumOf(parts.slice(0, which + 1))),
        ...{ height: tall(part), class: colourOf(which, parts.length) },
      }),
    ),
    svg('rect', { ...place, y: height - low - high, height: high, fill: `url(#${pattern})`, class: 'hatched' }),
  )
}

const swatch = (kind: string): SVGElement =>
  svg('svg', { width: 12, height: 12, 'aria-hidden': 'true' }, svg('rect', { width: 12, height: 12, class: kind }))

/** Bars beside each other. Its table says the same in numbers. */
export const plot = ({ title, bars, worded, hatchedWords, parts = [] }: Plot): HTMLElement => {
  const most = Math.max(0, ...bars.map((bar) => sumOf(partsOf(bar)) + bar.hatched))
  const pattern = freshId('hatching')
  const drawn = bars.map((bar, at) => barOf(bar, at, bars.length, most, pattern))
  const isHatched = bars.some(({ hatched }) => hatched > 0)
  return el(
    'figure',
    { class: 'plot' },
    el(
      'figcaption',
      {},
      title,
      parts.map((words, part) => el('span', { class: 'key' }, swatch(colourOf(part, parts.length)), words)),
      isHatched && el('span', { class: 'key' }, el('i', { class: 'hatched' }), hatchedWords),
    ),
    el('div', { class: 'axis', 'aria-hidden': 'true' }, el('span', {}, worded(most)), el('span', {}, '0')),
    svg('svg', { role: 'img', 'aria-label': title, width: '100%', height }, svg('defs', {}, hatching(pattern)), drawn),
    el(
      'div',
      { class: 'ends', 'aria-hidden': 'true' },
      el('span', {}, bars[0]?.name ?? ''),
      el('span', {}, bars.length > 1 ? (bars.at(-1)?.name ?? '') : ''),
    ),
  )
}
