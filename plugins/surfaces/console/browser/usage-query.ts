import { utcDay } from './format.ts'
import { pathOf } from './gateway.ts'

/** Rows of usage name these; the gateway sums the rest itself. */
const rowGroups = ['day', 'model', 'key', 'team', 'user'] as const
export const groups = [...rowGroups, 'tag', 'backend'] as const
export type Group = (typeof groups)[number]
export type RowGroup = (typeof rowGroups)[number]

export const heads: Readonly<Record<Group, string>> = {
  ...{ day: 'Day (UTC)', model: 'Model', key: 'Key' },
  ...{ team: 'Team', user: 'User', tag: 'Tag', backend: 'Backend' },
}

/** What the bars of days are made of, and what they count. */
export const splits = ['model', 'key', 'team'] as const
export const measures = ['requests', 'tokens', 'cost'] as const

/** What of the usage is shown; all of it stands in the address. */
export interface UsageQuery {
  readonly by: Group
  readonly from: string
  readonly to: string
  readonly model: string
  readonly key: string
  readonly team: string
  /** Empty for bars of one colour. */
  readonly split: (typeof splits)[number] | ''
  readonly show: (typeof measures)[number]
  /** `1` beside the time before. */
  readonly compare: '1' | ''
}

/** Whether there is such a day. */
export const isDay = (text: string | null): text is string => {
  if (text === null || !/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(text)
  return Number.isFinite(time) && utcDay(time) === text
}

export const isRowGroup = (group: Group): group is RowGroup => rowGroups.some((name) => name === group)

export const usageQuery = (query: URLSearchParams): UsageQuery => {
  const [from, to, now] = [query.get('from'), query.get('to'), Date.now()]
  return {
    by: groups.find((group) => group === query.get('by')) ?? 'day',
    from: isDay(from) ? from : utcDay(now, 29),
    to: isDay(to) ? to : utcDay(now),
    model: query.get('model') ?? '',
    key: query.get('key') ?? '',
    team: query.get('team') ?? '',
    split: splits.find((split) => split === query.get('split')) ?? '',
    show: measures.find((measure) => measure === query.get('show')) ?? 'requests',
    compare: query.get('compare') === '1' ? '1' : '',
  }
}

export const usageHash = (query: UsageQuery, change: Partial<UsageQuery> = {}): string => {
  const { show, ...rest } = { ...query, ...change }
  return pathOf('#/usage', { ...rest, show: show === 'requests' ? null : show })
}

const dayMs = 86_400_000

/** The span of the same length that ends where this one begins. */
export const spanBefore = ({ from, to }: Pick<UsageQuery, 'from' | 'to'>): { from: string; to: string } => {
  const [first, last] = [Date.parse(from), Date.parse(to)]
  return { from: utcDay(first - (last - first) - dayMs), to: utcDay(first - dayMs) }
}
