import { type SumsAnswer, allSums, mostSums, sumsPath } from '../all-sums.ts'
import type { Key, Usage, Traffic } from '../answers.ts'
import { costTile, knownCost, type Sum, sumOf, sumsBy } from '../sums.ts'
import { type Child, el, freshId, div } from '../element.ts'
import { count, percent, counted, costWords, moment } from '../format.ts'
import { type Gateway, curlOf, pathOf, wholeList } from '../gateway.ts'
import { nameOr } from '../key-state.ts'
import { listView } from '../list-view.ts'
import type { Page, View } from '../page.ts'
import { dateFields, heading, link, note, section, tabs, tile, tiles, warning } from '../parts.ts'
import { measureWords, usagePlot } from '../usage-plot.ts'
import {
  type RowGroup,
  type UsageQuery,
  groups,
  heads,
  isDay,
  isRowGroup,
  measures,
  spanBefore,
  splits,
  usageHash,
  usageQuery,
} from '../usage-query.ts'
import { type SumRow, sumsTable } from '../usage-table.ts'
import { plot } from '../plot.ts'
import { figure, table } from '../table.ts'

const choices = (view: View, query: UsageQuery, isHourly = false): HTMLElement => {
  const day = (name: 'from' | 'to') => el('input', { id: freshId(name), type: 'date', value: query[name] })
  const [first, last] = [day('from'), day('to')]
  const choose = (): void => {
    const [from, to] = [first.value, last.value]
    if (isDay(from) && isDay(to) && (from !== query.from || to !== query.to)) view.go(usageHash(query, { from, to }))
  }
  const labels = [el('label', { for: first.id }, 'From'), el('label', { for: last.id }, 'to')] as const
  const hour = ['By hour', '#/usage?by=hour', isHourly] as const
  const all = groups.map((by) => [`By ${by}`, usageHash(query, { by }), !isHourly && by === query.by] as const)
  return div(
    'choices',
    tabs('Sum of usage', [...all.slice(0, 1), hour, ...all.slice(1)]),
    !isHourly && dateFields(div('span', labels[0], first, labels[1], last), choose),
  )
}

/** What the bars count, what they are made of, and whether the time before stands beside the sums. */
const plotChoices = (query: UsageQuery): HTMLElement =>
  div(
    'choices',
    tabs(
      'What the bars count',
      measures.map((show) => [measureWords[show], usageHash(query, { show }), show === query.show] as const),
    ),
    tabs('Parts of the bars', [
      ['Whole', usageHash(query, { split: '' }), query.split === ''],
      ...splits.map((split) => [`Stacked by ${split}`, usageHash(query, { split }), split === query.split] as const),
    ]),
    link(
      query.compare === '' ? 'Compare with the time before' : 'Without the time before',
      usageHash(query, { compare: query.compare === '' ? '1' : '' }),
    ),
  )

const narrowed = (query: UsageQuery, names: ReadonlyMap<string, string>): readonly Child[] =>
  (['model', 'key', 'team'] as const).flatMap((field) =>
    query[field] === ''
      ? []
      : [
          el(
            'p',
            { class: 'chip' },
            `Only ${field} `,
            el('b', {}, names.get(query[field]) ?? query[field]),
            ' ',
            link(`show every ${field}`, usageHash(query, { [field]: '' })),
          ),
        ],
  )

const nameOf = (key: Key): string => nameOr(key, `(no name, …${key.hint})`)

/** Sums by what the rows of usage do not name: the gateway keeps them. Narrowed to no key and no model. */
const summed = async (view: View, query: UsageQuery): Promise<readonly Child[]> => {
  const { by, from, to } = query
  const path = sumsPath({ by, from, to })
  const { sums, next } = await view.gateway.ask<SumsAnswer>('GET', path)
  const rows = sums.map(({ name, ...sum }) => ({ name: name ?? `no ${by}`, sum }))
  rows.sort((one, other) => other.sum.requests - one.sum.requests)
  return [
    ...listView<SumRow>({
      view,
      path: '#/usage',
      words: ({ name }) => name,
      table: sumsTable({
        title: `Usage by ${by}`,
        file: `usage-by-${by}-${from}-${to}`,
        by: heads[by],
        rows,
        curl: curlOf(view.gateway.base, path),
        ...(by === 'team' && {
          shownName: (name) => (name === 'no team' ? name : link(name, usageHash(query, { by: 'day', team: name }))),
        }),
      }),
    }),
    next !== null &&
      note(`The first ${count(mostSums)} names are shown: choose fewer days, or ask for the next page by curl.`),
    query.key + query.team + query.model !== '' && note(`Usage by ${by} is that of all keys, teams and models.`),
    by === 'tag' && note('A call with several tags counts under each of them.'),
  ]
}

/** The rows that the address names, and where they are; sums where it names the whole use. */
const rowsOf = async ({ gateway }: View, query: UsageQuery, { from, to }: { from: string; to: string }) => {
  const { by, key, team, model, split } = query
  // Only rows know several names at once.
  if (key + team + model + (by === 'day' ? split : '') === '') {
    const sums = await allSums(gateway, { by, from, to })
    const rows = sums.map(({ name, ...sum }): Usage => ({ ...{ day: '', model: '', key: '' }, ...sum, [by]: name }))
    return { rows, read: 0, total: 0, path: sumsPath({ by, from, to }) }
  }
  const named = { from, to, key, team }
  const { rows, total } = await wholeList<Usage>(gateway, '/admin/usage', 'usage', named)
  const path = pathOf('/admin/usage', { ...named, limit: 100 })
  return { rows: rows.filter((row) => model === '' || row.model === model), read: rows.length, total, path }
}

/** The names of keys, as far as the choice shows keys. */
const namesOf = async (gateway: Gateway, { by, split, key }: UsageQuery): Promise<ReadonlyMap<string, string>> => {
  const one = pathOf('/admin/keys', { search: key, limit: 1 })
  const { rows } =
    by === 'key' || split === 'key'
      ? await wholeList<Key>(gateway, '/admin/keys', 'keys')
      : { rows: key === '' ? [] : (await gateway.ask<{ readonly keys: readonly Key[] }>('GET', one)).keys }
  return new Map(rows.map((row) => [row.id, nameOf(row)]))
}

/** A figure beside that of the time before. */
const beside = (now: number, before: number | null, words: string): string => {
  if (before === null) return words
  const more = before === 0 ? '' : `, ${now >= before ? '+' : ''}${percent(now / before - 1)}`
  return `${count(before)} before${more}`
}

const sumTiles = (sum: Sum, before: Sum | null): HTMLElement =>
  tiles(
    tile(
      'Requests',
      count(sum.requests),
      beside(sum.requests, before && before.requests, counted(sum.unanswered, 'error')),
    ),
    tile(
      'Input tokens',
      count(sum.input),
      beside(sum.input, before && before.input, `${count(sum.cached)} of them cached`),
    ),
    tile(
      'Output tokens',
      count(sum.output),
      beside(sum.output, before && before.output, `${count(sum.reasoning)} of them reasoning`),
    ),
    costTile('Cost', sum),
    before === null ? null : costTile('Cost before', before),
  )

/** The row's name in a group; of a day, the address of its models, and of anything else, that of its days. */
const deeperOf =
  (query: UsageQuery, by: RowGroup, names: ReadonlyMap<string, string>) =>
  (name: string): Child => {
    if (by === 'day') return link(name, usageHash(query, { by: 'model', from: name, to: name }))
    if (by === 'user' || name === `no ${by}`) return name
    return link(names.get(name) ?? name, usageHash(query, { by: 'day', [by]: name }))
  }

const byRows = async (view: View, query: UsageQuery, by: RowGroup): Promise<readonly Child[]> => {
  const earlier = spanBefore(query)
  const [list, names, before] = await Promise.all([
    rowsOf(view, query, query),
    namesOf(view.gateway, query),
    query.compare === '' ? null : rowsOf(view, { ...query, split: '' }, earlier),
  ])
  const { rows } = list
  const cut = [list, before].find((some) => some !== null && some.total > some.read)
  const sums = [...sumsBy(rows, (row) => row[by] ?? `no ${by}`)].map(([name, sum]) => ({ name, sum }))
  if (by !== 'day') sums.sort((one, other) => other.sum.requests - one.sum.requests)
  return [
    narrowed(query, names),
    cut != null &&
      warning(`The sums hold the newest ${count(cut.read)} of ${count(cut.total)} rows: choose fewer days.`),
    sumTiles(sumOf(rows), before && sumOf(before.rows)),
    before !== null && note(`Before: from ${earlier.from} to ${earlier.to}.`),
    by === 'day' &&
      section(
        `${measureWords[query.show]} by day`,
        plotChoices(query),
        usagePlot(rows, query, (name) => names.get(name) ?? name),
      ),
    ...listView<SumRow>({
      view,
      path: '#/usage',
      words: ({ name }) => `${name} ${names.get(name) ?? ''}`,
      table: sumsTable({
        title: `Usage by ${by}`,
        file: `usage-by-${by}-${query.from}-${query.to}`,
        by: heads[by],
        rows: sums,
        curl: curlOf(view.gateway.base, list.path),
        shownName: deeperOf(query, by, names),
        ...(by === 'key' && { named: (id) => names.get(id) ?? id }),
      }),
    }),
    note('Cached tokens are part of input, reasoning of output. A call without a known price is unpriced, never 0.'),
  ]
}

/** The gateway sums names that its rows lack, and teams and users of all rows at once. */
const isSummed = ({ by, key, team, model }: UsageQuery): boolean =>
  !isRowGroup(by) || ((by === 'team' || by === 'user') && key + team + model === '')

export const usage: Page = {
  name: 'usage',
  title: 'Usage',
  sees: ({ administers }) => administers,
  async show(view) {
    const query = usageQuery(view.query)
    const wanted = view.query.get('by')
    const head = heading('Usage and cost')
    if (wanted === 'hour') return [head, choices(view, query, true), ...(await usageHours(view, query))]
    if (wanted !== null && wanted !== query.by)
      return [head, warning(`Usage is not summed by ${wanted}.`), choices(view, query)]
    const content = isSummed(query) || !isRowGroup(query.by) ? summed(view, query) : byRows(view, query, query.by)
    return [head, choices(view, query), ...(await content)]
  },
}

type Slot = Traffic['slots'][number]
/** Its cost is null where no call has a known price. */
type Hour = Omit<Slot, 'cost'> & { readonly cost: number | null }

const path = '/admin/traffic?span=day'

/** Pairs of half hours. */
export const hoursOf = ({ slots }: Pick<Traffic, 'slots'>): readonly Hour[] =>
  slots.flatMap((slot, at) => {
    const next = slots[at + 1]
    if (at % 2 === 1) return []
    const sum = (of: (slot: Slot) => number) => of(slot) + (next === undefined ? 0 : of(next))
    const [unpriced, cost] = [sum(({ unpriced }) => unpriced), sum(({ cost }) => cost)]
    return [
      {
        ...slot,
        requests: sum(({ requests }) => requests),
        input: sum(({ input }) => input),
        output: sum(({ output }) => output),
        ...{ unpriced, cost: cost === 0 && unpriced > 0 ? null : cost },
      },
    ]
  })

/** The hours of the last day, as the gateway's processes counted them. */
const usageHours = async ({ gateway, sight }: View, query: UsageQuery): Promise<readonly Child[]> => {
  const hours = hoursOf(await gateway.ask<Traffic>('GET', path))
  return [
    section(
      'Requests by hour',
      plot({
        title: 'Requests of the last 24 hours',
        worded: count,
        hatchedWords: 'unpriced',
        bars: hours.map(({ at, requests, unpriced }) => ({
          name: moment(at),
          solid: Math.max(0, requests - unpriced),
          hatched: unpriced,
          words: `${moment(at)}: ${counted(requests, 'request')}, ${count(unpriced)} unpriced`,
        })),
      }),
    ),
    table<Hour>({
      title: 'Usage by hour',
      file: 'usage-by-hour',
      rows: hours,
      curl: curlOf(gateway.base, path),
      empty: '',
      columns: [
        { head: 'Hour from', value: ({ at }) => new Date(at).toISOString(), show: ({ at }) => moment(at) },
        figure('Requests', ({ requests }) => requests, count),
        figure('Input', ({ input }) => input, count),
        figure('Output', ({ output }) => output, count),
        figure('Unpriced', ({ unpriced }) => unpriced, count),
        { head: costWords(), value: ({ cost }) => cost, show: knownCost, number: true },
      ],
    }),
    note(
      `The hours of ${sight.operates ? 'all callers' : 'your organisation'} in the last day, since the gateway started. `,
      link('Days', usageHash(query, { by: 'day' })),
      ' are kept.',
    ),
  ]
}
