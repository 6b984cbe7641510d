import type { Team } from '../answers.ts'
import type { Child } from '../element.ts'
import { shownCost } from '../costs.ts'
import { cost, costWords, count, counted } from '../format.ts'
import { curlOf, pathOf } from '../gateway.ts'
import { listView } from '../list-view.ts'
import { wholeList } from '../listing.ts'
import type { Page, View } from '../page.ts'
import { heading, link, note } from '../parts.ts'
import { type Spending, type Stand, forecastOf, leftOf, spendingOf, standBar, standsOf } from '../spending.ts'
import { type Column, figure, lamp, linked } from '../table.ts'
import { teamDetail } from '../team-detail.ts'
import { teamForm } from '../team-form.ts'
import { statement } from '../team-statement.ts'
import { sourceWords, teamState } from '../team-words.ts'

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
