import { el, svg } from './element.ts'

/** One value for each step; null where nothing was measured. */
export interface Line {
  readonly words: string
  readonly kind: 'solid' | 'pale' | 'bad'
  readonly values: readonly (number | null)[]
}

export interface TimePlot {
  readonly title: string
  readonly lines: readonly Line[]
  /** Bars stand on the ground, one in front of the other. */
  readonly bars?: true
  worded(value: number): string
}

export interface TimePlots {
  readonly plots: readonly TimePlot[]
  /** The time of each step in words. */
  readonly steps: readonly string[]
  /** Places of marks between the first step, at 0, and the end of the last one, with what they stand for. */
  readonly marks: readonly { readonly place: number; readonly words: string }[]
}

const height = 64

const pathOf = (values: readonly (number | null)[], tall: (value: number) => number): string =>
  values
    .map((value, at) => {
      if (value === null) return ''
      const place = `${at + 0.5} ${height - tall(value)}`
      // A point without a neighbour is a dot.
      return values[at - 1] == null ? `M${place}h.01` : `L${place}`
    })
    .join('')

const drawn = ({ lines, bars }: TimePlot): readonly SVGElement[] => {
  const most = Math.max(...lines.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const tall = (value: number): number => (most === 0 ? 0 : (value / most) * (height - 4))
  if (bars === undefined)
    return lines.map(({ kind, values }) =>
      svg('path', { d: pathOf(values, tall), class: `line ${kind}`, 'vector-effect': 'non-scaling-stroke' }),
    )
  return lines.flatMap(({ kind, values }) =>
    values.flatMap((value, at) => {
      const high = tall(value ?? 0)
      return high === 0
        ? []
        : [svg('rect', { x: at + 0.1, width: 0.8, y: height - high, height: high, class: `bar-${kind}` })]
    }),
  )
}

interface Drawn {
  readonly figure: HTMLElement
  /** Shows the values of a step, and a line through it; null for the last whole step. */
  point(step: number | null): void
}

const plotOf = (plot: TimePlot, { steps, marks }: TimePlots): Drawn => {
  const cross = svg('line', { y1: 0, y2: height, class: 'cross', 'vector-effect': 'non-scaling-stroke' })
  const told = el('span', { class: 'told' })
  const figure = el(
    'figure',
    { class: 'time-plot' },
    el('figcaption', {}, el('b', {}, plot.title), told),
    svg(
      'svg',
      ...[{ viewBox: `0 0 ${steps.length} ${height}`, preserveAspectRatio: 'none', width: '100%', height }],
      drawn(plot),
      marks.map(({ place, words }) =>
        svg(
          'line',
          { x1: place, x2: place, y1: 0, y2: height, class: 'mark', 'vector-effect': 'non-scaling-stroke' },
          svg('title', {}, words),
        ),
      ),
      cross,
    ),
  )
  figure.querySelector('svg')?.setAttribute('role', 'img')
  figure.querySelector('svg')?.setAttribute('aria-label', `${plot.title} over time`)
  const point = (step: number | null): void => {
    const at = step ?? Math.max(0, steps.length - 2)
    cross.setAttribute('x1', String(at + 0.5))
    cross.setAttribute('x2', String(at + 0.5))
    cross.classList.toggle('shown', step !== null)
    const values = plot.lines.map(({ words, values }) => {
      const value = values[at] ?? null
      return `${words} ${value === null ? '–' : plot.worded(value)}`
    })
    told.textContent = `${steps[at] ?? ''} · ${values.join(' · ')}`
  }
  point(null)
  return { figure, point }
}

/** Plots below each other's time: the pointer shows the same step on all of them. */
export const timePlots = (all: TimePlots): HTMLElement => {
  const plots = all.plots.map((plot) => plotOf(plot, all))
  const show = (step: number | null): void => plots.forEach(({ point }) => point(step))
  const moved = (event: Event): void => {
    if (!(event instanceof PointerEvent) || !(event.target instanceof Element)) return
    const area = event.target.closest('svg')?.getBoundingClientRect()
    if (area === undefined) return show(null)
    const step = Math.floor(((event.clientX - area.left) / area.width) * all.steps.length)
    show(Math.min(all.steps.length - 1, Math.max(0, step)))
  }
  return el(
    'div',
    { class: 'time-plots', on: { pointermove: moved, pointerleave: () => show(null) } },
    plots.map(({ figure }) => figure),
  )
}
