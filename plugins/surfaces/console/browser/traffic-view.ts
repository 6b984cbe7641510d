import type { Incident, Traffic, TrafficFigures } from './answers.ts'
import { type Child, div } from './element.ts'
import { clockTime, cost, costWords, count, moment, percent } from './format.ts'
import { pathOf } from './gateway.ts'
import { link, section, tabs, tile } from './parts.ts'
import { statusWords } from './sentences.ts'
import { timeOf } from './running.ts'
import { figure, linked, table } from './table.ts'
import { type TimePlot, timePlots } from './time-plots.ts'

const spans = { hour: '60 minutes', day: '24 hours' } as const
const groups = ['model', 'team', 'backend'] as const

/** What of the traffic is shown; all of it stands in the address. */
export interface TrafficChoice {
  readonly span: keyof typeof spans
  readonly by: (typeof groups)[number]
  /** Empty for all requests. */
  readonly name: string
}

export const trafficChoice = (query: URLSearchParams): TrafficChoice => ({
  span: query.get('span') === 'day' ? 'day' : 'hour',
  by: groups.find((group) => group === query.get('by')) ?? 'model',
  name: query.get('name') ?? '',
})

export const trafficPath = ({ span, by, name }: TrafficChoice): string => pathOf('/admin/traffic', { span, by, name })

const hashOf = (choice: TrafficChoice, change: Partial<TrafficChoice>): string =>
  pathOf('#/home', { ...choice, ...change })

/** The figures of the last whole minute. */
export const minuteTiles = ({ slots }: Traffic): readonly (HTMLElement | null)[] => {
  const slot = slots.at(-2)
  if (slot === undefined) return []
  const minute = `in the minute from ${clockTime(slot.at).replace(/:\d\d(?!.*:\d\d)/, '')}`
  const share = (part: number) => (slot.requests === 0 ? '–' : percent(part / slot.requests))
  return [
    tile('Requests', count(slot.requests), minute),
    slot.errors === null ? null : tile('Errors', share(slot.errors), minute),
    tile('Sealed', share(slot.sealed), minute),
  ]
}

const plotsOf = ({ slots }: Traffic, isAll: boolean): readonly TimePlot[] => {
  const line = (words: string, kind: 'solid' | 'pale' | 'bad', of: (slot: TrafficFigures) => number | null) => ({
    ...{ words, kind, values: slots.map(of) },
  })
  const times = isAll || slots.some(({ p50_ms }) => p50_ms !== null)
  return [
    {
      title: 'Requests',
      bars: true,
      worded: count,
      lines: [
        line('all', 'solid', ({ requests }) => requests),
        ...(slots.every(({ errors }) => errors === null) ? [] : [line('errors', 'bad', ({ errors }) => errors)]),
      ],
    },
    ...(times
      ? [
          {
            title: 'Time',
            worded: timeOf,
            lines: [line('p95', 'pale', (slot) => slot.p95_ms), line('p50', 'solid', (slot) => slot.p50_ms)],
          },
        ]
      : []),
    {
      title: 'First token',
      worded: timeOf,
      lines: [
        line('p95', 'pale', (slot) => slot.first_token_p95_ms),
        line('p50', 'solid', (slot) => slot.first_token_p50_ms),
      ],
    },
    {
      title: 'Tokens',
      worded: count,
      lines: [line('in', 'pale', ({ input }) => input), line('out', 'solid', ({ output }) => output)],
    },
    {
      title: costWords(),
      bars: true,
      worded: cost,
      lines: [line('priced calls', 'solid', (slot) => slot.cost)],
    },
  ]
}

/** The plots of the chosen span. */
export const trafficPlots = (traffic: Traffic, choice: TrafficChoice): HTMLElement => {
  const { slots, step_ms, marks } = traffic
  const from = slots[0]?.at ?? 0
  const words = (at: number) => (choice.span === 'hour' ? clockTime(at).replace(/:\d\d(?!.*:\d\d)/, '') : moment(at))
  return section(
    choice.name === '' ? 'Traffic of callers' : `Traffic of ${choice.by} ${choice.name}`,
    div(
      'choices',
      tabs(
        'Span of the plots',
        (['hour', 'day'] as const).map((span) => [spans[span], hashOf(choice, { span }), span === choice.span]),
      ),
      choice.name !== '' && link('All requests', hashOf(choice, { name: '' })),
    ),
    timePlots({
      plots: plotsOf(traffic, choice.name === ''),
      steps: slots.map(({ at }) => words(at)),
      marks: marks.map(({ at, what }) => ({ place: (at - from) / step_ms, words: `${what}, ${moment(at)}` })),
    }),
  )
}

type Sum = Traffic['sums'][number]

/** The sums of the span by model, team or backend; a click shows the plots of one. */
export const trafficTable = ({ sums }: Traffic, choice: TrafficChoice, curl: string): readonly Child[] => [
  div(
    'choices',
    tabs(
      'Sums of traffic',
      groups.map((by) => [`By ${by}`, hashOf(choice, { by, name: '' }), by === choice.by]),
    ),
  ),
  table<Sum>({
    title: `The last ${spans[choice.span]} by ${choice.by}`,
    file: `traffic-by-${choice.by}`,
    rows: sums,
    curl,
    empty: 'Nobody has called in this time.',
    columns: [
      linked(
        choice.by === 'backend' ? 'Backend' : choice.by === 'team' ? 'Team' : 'Model',
        ({ name }) => name,
        (name) => hashOf(choice, { name }),
      ),
      figure(choice.by === 'backend' ? 'Calls' : 'Answered', ({ requests }) => requests, count),
      ...(choice.by === 'backend' ? [figure<Sum>('Errors', ({ errors }) => errors, count)] : []),
      ...(choice.by === 'backend' ? [figure<Sum>('p50', (sum) => sum.p50_ms, timeOf)] : []),
      ...(choice.by === 'backend' ? [figure<Sum>('p95', (sum) => sum.p95_ms, timeOf)] : []),
      ...(choice.by === 'team' ? [] : [figure<Sum>('First token, p50', (sum) => sum.first_token_p50_ms, timeOf)]),
      figure('Input', ({ input }) => input, count),
      figure('Output', ({ output }) => output, count),
      figure('Unpriced', ({ unpriced }) => unpriced, count),
      figure(costWords(), (sum) => (sum.requests > 0 && sum.unpriced === sum.requests ? null : sum.cost), cost),
    ],
  }),
]

/** The incidents of the last day, the latest first; null without any. */
export const incidentTable = ({ incidents }: Traffic, curl: string): HTMLElement | null =>
  incidents.length === 0
    ? null
    : table<Incident>({
        title: 'Incidents of the last day',
        file: 'incidents',
        rows: incidents.toReversed(),
        curl,
        empty: '',
        columns: [
          { head: 'Backend', value: ({ backend }) => backend },
          { head: 'Backend’s model', value: ({ model }) => model },
          { head: 'Since', value: ({ since }) => new Date(since).toISOString(), show: ({ since }) => moment(since) },
          {
            head: 'Until',
            value: ({ until }) => until && new Date(until).toISOString(),
            show: ({ until }) => (until === null ? 'now open' : moment(until)),
          },
          figure('Failed calls', ({ failed }) => failed, count),
          { head: 'Last status', value: ({ status }) => status, show: ({ status }) => statusWords(status) },
        ],
      })
