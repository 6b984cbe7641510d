import type { Team, Key, Usage } from '../answers.ts'
import { type Child, div, el } from '../element.ts'
import { shownCost, costTile, sumOf, sumsBy } from '../sums.ts'
import { cost, costWords, count, counted, utcDay } from '../format.ts'
import { curlOf, pathOf, wholeList } from '../gateway.ts'
import { listView } from '../list-view.ts'
import type { Page, View } from '../page.ts'
import { heading, link, note, button, dateFields, tile, tiles, warning } from '../parts.ts'
import { type Spending, type Stand, forecastOf, leftOf, spendingOf, standBar, standsOf } from '../spending.ts'
import { type Column, figure, lamp, linked } from '../table.ts'
import { teamDetail } from '../team-detail.ts'
import { teamForm } from '../team-form.ts'
import { sourceWords, teamState, teamHash, teamPath } from '../team-words.ts'
import { nameOr } from '../key-state.ts'
import { usageTable } from '../usage-table.ts'

interface Row {
  readonly team: Team
  readonly spending: Spending
  /** The tightest budget; null without one. */
  readonly stand: Stand | null
}

const columns = (now: number): readonly Column<Row>[] => [
  linked(
    'Team',
    ({ team }) => team.name,
    (team) => `#/teams/${encodeURIComponent(team)}`,
  ),
  lamp('State', ({ team }) => teamState(team)),
  {
    head: 'Tightest budget',
    value: ({ stand }) => stand && stand.used / stand.most,
    show: ({ stand }) => (stand === null ? 'none' : standBar(stand)),
  },
  figure(costWords('Left'), ({ stand }) => stand && leftOf(stand), cost),
  {
    head: costWords('This month'),
    value: ({ spending }) => spending.month.cost,
    show: ({ spending }) => shownCost(spending.month),
    number: true,
  },
  figure(costWords('Forecast'), ({ spending }) => forecastOf(spending, now), cost),
  figure('Requests', ({ spending }) => spending.month.requests, count),
  { head: 'Stands in', value: ({ team }) => sourceWords(team) },
]

const list = async (view: View): Promise<readonly Child[]> => {
  const { gateway } = view
  const now = Date.now()
  const [{ rows, total }, of] = await Promise.all([
    wholeList<Team>(gateway, '/admin/teams', 'teams', {}, 25),
    spendingOf(gateway, now),
  ])
  return [
    heading('Teams', link('New team', '#/teams/@new', 'button main')),
    ...listView<Row>({
      view,
      path: '#/teams',
      table: {
        title: counted(total, 'team'),
        file: 'teams',
        columns: columns(now),
        rows: rows.map((team) => {
          const spending = of(team.name)
          return { team, spending, stand: standsOf(team, spending)[0] ?? null }
        }),
        curl: curlOf(gateway.base, pathOf('/admin/teams', { limit: 100 })),
        empty: 'There is no team.',
      },
      words: ({ team }) => team.name,
      filters: [
        { name: 'state', label: 'State', of: ({ team }) => teamState(team).words },
        { name: 'source', label: 'Stands in', of: ({ team }) => sourceWords(team) },
      ],
    }),
    note('Costs are of days of UTC, as usage counts them. The forecast is this month at its pace so far.'),
  ]
}

export const teams: Page = {
  name: 'teams',
  title: 'Teams',
  sees: ({ administers }) => administers,
  async show(view) {
    const [name, month] = view.path
    if (name === undefined) return list(view)
    if (name === '@new') return teamForm(view)
    return month === undefined ? teamDetail(view, name) : statement(view, name, month)
  },
}

/** Pages of 100 rows that a statement reads at most. */
const mostPages = 100

const monthWords = (month: string): string =>
  new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(Date.parse(month))

const monthChoice = ({ go }: View, name: string, chosen: string): HTMLElement => {
  const max = utcDay(Date.now()).slice(0, 7)
  const month = el('input', { type: 'month', value: chosen, max, 'aria-label': 'Month' })
  return dateFields(div('span', month), () => {
    if (month.value !== '' && month.value !== chosen) go(`${teamHash(name)}/${month.value}`)
  })
}

/** By the ids of keys. A name that several keys have shows their last letters, too. */
const namesOf = (keys: readonly Key[]): ReadonlyMap<string, string> => {
  const times = new Map<string, number>()
  for (const { name } of keys) times.set(name, (times.get(name) ?? 0) + 1)
  const isAlone = ({ name }: Key): boolean => times.get(name) === 1
  return new Map(
    keys.map((key) => {
      const ending = `…${key.hint}`
      return [key.id, isAlone(key) ? nameOr(key, ending) : `${key.name} ${ending}`.trim()]
    }),
  )
}

/** What a team used in a month, by key and model: to print, or to send as CSV. */
const statement = async (view: View, name: string, month: string): Promise<readonly Child[]> => {
  const { gateway } = view
  const head = heading(
    `Statement of ${name}`,
    link('The team', teamHash(name)),
    monthChoice(view, name, month),
    button('Print', () => print()),
  )
  if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(month)) return [head, warning('A month is written like 2030-01.')]
  const [year, at] = month.split('-').map(Number) as [number, number]
  const [from, to] = [`${month}-01`, utcDay(Date.UTC(year, at, 0))]
  const query = { team: name, from, to }
  const [team, uses, keys] = await Promise.all([
    gateway.ask<Team>('GET', teamPath(name)),
    wholeList<Usage>(gateway, '/admin/usage', 'usage', query, mostPages),
    wholeList<Key>(gateway, '/admin/keys', 'keys', { team: name }),
  ])
  const names = namesOf(keys.rows)
  const sum = sumOf(uses.rows)
  const most = team.limits['costPerMonth'] ?? null
  const lines = [...sumsBy(uses.rows, ({ key, model }) => `${names.get(key) ?? key}, ${model}`)].sort(
    ([one], [other]) => (one < other ? -1 : 1),
  )
  return [
    head,
    el('p', {}, `${monthWords(month)}, by days of UTC`),
    tiles(
      costTile('Cost', sum),
      tile(costWords('Budget of the month'), most === null ? 'none' : cost(most), 'as it is today'),
      tile('Requests', count(sum.requests), counted(sum.unanswered, 'error')),
      tile('Tokens', count(sum.input + sum.output), `${count(sum.input)} in, ${count(sum.output)} out`),
    ),
    usageTable({
      title: `${name}, ${month}`,
      file: `statement-${name}-${month}`,
      by: 'Key, model',
      rows: [...lines.map(([name, sum]) => ({ name, sum })), { name: 'Total', sum }],
      curl: curlOf(gateway.base, pathOf('/admin/usage', { ...query, limit: 100 })),
    }),
    uses.total > uses.rows.length &&
      note(`The statement holds the newest ${count(uses.rows.length)} of ${count(uses.total)} rows alone.`),
  ]
}
