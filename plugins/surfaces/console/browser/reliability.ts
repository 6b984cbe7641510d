import type { CaseFigures } from './case-figures.ts'
import { el, svg } from './element.ts'
import { count, decimal, percent } from './format.ts'
import { figure, table } from './table.ts'

const size = 100

const curve = ({ bins }: CaseFigures, at: number): readonly SVGElement[] => {
  const place = ({ claimed, right }: { readonly claimed: number; readonly right: number }) => ({
    cx: claimed * size,
    cy: (1 - right) * size,
  })
  const points = bins.map((bin) => `${place(bin).cx},${place(bin).cy}`).join(' ')
  return [
    svg('polyline', { points, class: `curve curve-${at}`, 'vector-effect': 'non-scaling-stroke' }),
    ...bins.map((bin) => svg('circle', { ...place(bin), r: 1 + 2.5 * Math.sqrt(bin.share), class: `dot curve-${at}` })),
  ]
}

const key = ({ model }: CaseFigures, at: number): HTMLElement =>
  el(
    'span',
    { class: 'key' },
    svg(
      'svg',
      { width: 28, height: 8, 'aria-hidden': 'true' },
      svg('path', { d: 'M0 4h28', class: `curve curve-${at}` }),
    ),
    el('span', { class: 'label' }, model),
  )

/** How often answers are right against what they claim. Its table says the same in numbers. */
export const reliabilityPlot = (all: readonly CaseFigures[]): HTMLElement => {
  const title = 'How often answers are right against their greatest probability'
  return el(
    'figure',
    { class: 'plot square' },
    el('figcaption', {}, 'Dotted: claim and truth are equal. Below it, a model is too sure.', all.map(key)),
    el(
      'div',
      { class: 'axis', 'aria-hidden': 'true' },
      el('span', {}, percent(1)),
      el('span', {}, 'right'),
      el('span', {}, '0'),
    ),
    svg(
      'svg',
      { role: 'img', 'aria-label': title, viewBox: `-4 -4 ${size + 8} ${size + 8}`, width: '100%' },
      svg('rect', { width: size, height: size, class: 'frame', 'vector-effect': 'non-scaling-stroke' }),
      svg('line', { x1: 0, y1: size, x2: size, y2: 0, class: 'even', 'vector-effect': 'non-scaling-stroke' }),
      all.flatMap(curve),
    ),
    el(
      'div',
      { class: 'ends', 'aria-hidden': 'true' },
      el('span', {}, '0'),
      el('span', {}, 'claimed'),
      el('span', {}, percent(1)),
    ),
  )
}

interface Row {
  readonly model: string
  readonly claimed: number
  readonly right: number
  readonly answers: number
}

export const reliabilityTable = (all: readonly CaseFigures[], curl: string): HTMLElement =>
  table<Row>({
    title: 'Calibration',
    file: 'calibration',
    curl,
    empty: 'No case was answered.',
    rows: all.flatMap(({ model, answered, bins }) =>
      bins.map(({ claimed, right, share }) => ({ model, claimed, right, answers: Math.round(share * answered) })),
    ),
    columns: [
      { head: 'Model', value: ({ model }) => model },
      figure('Claimed', ({ claimed }) => claimed, percent),
      figure('Right', ({ right }) => right, percent),
      figure('Too sure by', ({ claimed, right }) => claimed - right, decimal),
      figure('Answers', ({ answers }) => answers, count),
    ],
  })
