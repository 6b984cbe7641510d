import type { Act, Budgets, Key, Team, Usage } from './answers.ts'
import { auditOf } from './audit-table.ts'
import { changeForm } from './change-form.ts'
import { shownCost, nothing, sumsBy } from './sums.ts'
import { ask } from './dialog.ts'
import { type Child, el, div } from './element.ts'
import { cost, costWords, count, moment, utcDay, counted } from './format.ts'
import { curlOf, isWhole, type Listing, pathOf, wholeList } from './gateway.ts'
import { budgetWords, budgets, limitFields, limitsOf } from './key-limits.ts'
import { nameOr, stateOf } from './key-state.ts'
import type { View } from './page.ts'
import { badge, button, facts, heading, link, note, section, stack, refusedIn } from './parts.ts'
import { type Spending, beginningOf, forecastOf, leftOf, spendingOf, standBar, standsOf } from './spending.ts'
import { table } from './table.ts'
import { sourceWords, teamHash, teamPath, teamState } from './team-words.ts'
import { usageTable } from './usage-table.ts'

interface Change {
  readonly budgets: Budgets
}

const about = (team: Team, spending: Spending, uses: Listing<Usage>): HTMLElement => {
  const forecast = forecastOf(spending, Date.now())
  const people = new Set(uses.rows.map(({ user }) => user ?? ''))
  const { kind, words } = teamState(team)
  return section(
    'Team',
    facts([
      ['State', badge(kind, words)],
      ['Stands in', sourceWords(team)],
      ...standsOf(team, spending).map(
        (stand) => [`Budget a ${stand.period}`, [standBar(stand), ` ${cost(leftOf(stand))} left`], 'wide'] as const,
      ),
      [costWords('This month'), shownCost(spending.month)],
      [costWords('Forecast'), forecast === null ? '–' : cost(forecast)],
      ['Requests', `${count(spending.month.requests)} this month`],
      ['People', `${isWhole(uses) ? '' : 'at least '}${count(people.size)} this month`],
      ['Made', team.created_at === null ? '–' : moment(team.created_at)],
    ]),
  )
}

const keyTable = (keys: readonly Key[], total: number, uses: readonly Usage[], curl: string): HTMLElement => {
  const sums = sumsBy(uses, ({ key }) => key)
  const now = Date.now()
  return table<Key>({
    title: `${counted(total, 'key')} of this team`,
    file: 'keys-of-team',
    rows: keys,
    curl,
    empty: 'The team has no key.',
    columns: [
      {
        head: 'Name',
        value: ({ name }) => name,
        show: (key) => link(nameOr(key, '(no name)'), `#/keys/${encodeURIComponent(key.id)}`),
      },
      { head: 'State', value: (key) => stateOf(key, now).words },
      { head: 'User', value: ({ user }) => user },
      { head: 'Models', value: ({ models }) => models?.join(', ') ?? 'all' },
      { head: 'Budget', value: budgetWords },
      {
        head: costWords('This month'),
        value: ({ id }) => sums.get(id)?.cost ?? null,
        show: ({ id }) => shownCost(sums.get(id) ?? nothing),
        number: true,
      },
    ],
  })
}

/** Closing asks first; opening again is a change, and one click. */
const openOrClose = ({ gateway, again }: View, team: Team, place: HTMLElement): HTMLElement => {
  const path = teamPath(team.name)
  if (team.closed_at === null)
    return button(
      'Close team',
      () =>
        ask({
          title: 'Close this team?',
          words: el('p', {}, 'Its keys are refused within five seconds, until somebody opens the team again.'),
          yes: 'Close team',
          act: () => gateway.ask('DELETE', path).then(again),
        }),
      'danger',
    )
  const open = async (): Promise<void> => {
    const { budgets, version } = team
    await gateway.ask('PATCH', path, { budgets, version }).then(again, refusedIn(place))
  }
  return button('Open team again', open)
}

const acts = (view: View, team: Team, draw: (team: Team) => void): Child =>
  team.source === 'store'
    ? changeForm<Team, Change>({
        now: team,
        what: 'team',
        inputs: ({ budgets: own }) => [div('pair', limitFields(own, budgets))],
        changeOf: (form, { budgets: own }) => ({ budgets: limitsOf(new FormData(form), own) }),
        earlier: ({ budgets }) => ({ budgets }),
        send: (change) => view.gateway.ask<Team>('PATCH', teamPath(team.name), change),
        draw,
        again: view.again,
      })
    : note('The configuration file has this team. Change it there, and reload the file in Settings.')

/** One team with its budgets, keys, use and audit. */
export const teamDetail = async (view: View, name: string): Promise<readonly Child[]> => {
  const { gateway } = view
  const now = Date.now()
  const month = beginningOf('month', now)
  const [team, of, keys, uses, audit] = await Promise.all([
    gateway.ask<Team>('GET', teamPath(name)),
    spendingOf(gateway, now),
    wholeList<Key>(gateway, '/admin/keys', 'keys', { team: name }, 5),
    wholeList<Usage>(gateway, '/admin/usage', 'usage', { team: name, from: month }),
    wholeList<Act>(gateway, '/admin/audit', 'acts', {}, 5),
  ])
  const place = stack()
  const region = stack(about(team, of(name), uses))
  const draw = (changed: Team): void => region.replaceChildren(about(changed, of(name), uses))
  return [
    heading(
      name,
      link('All teams', '#/teams'),
      link('Statement', `${teamHash(name)}/${month.slice(0, 7)}`),
      team.source === 'store' && openOrClose(view, team, place),
    ),
    place,
    region,
    acts(view, team, draw),
    keyTable(keys.rows, keys.total, uses.rows, curlOf(gateway.base, pathOf('/admin/keys', { team: name, limit: 100 }))),
    usageTable({
      title: 'This month by model',
      file: `usage-of-${name}-${utcDay(now)}`,
      by: 'Model',
      rows: [...sumsBy(uses.rows, ({ model }) => model)].map(([name, sum]) => ({ name, sum })),
      curl: curlOf(gateway.base, pathOf('/admin/usage', { team: name, from: month, limit: 100 })),
    }),
    !isWhole(uses) &&
      note(`These sums have the newest ${count(uses.rows.length)} of ${counted(uses.total, 'row')} of this month.`),
    note(link('Usage of this team', pathOf('#/usage', { by: 'day', team: name }))),
    auditOf(
      gateway,
      'team',
      audit.rows.filter(({ object, action }) => object === name && action.startsWith('team.')),
    ),
  ]
}
