import type { Key, Paged } from './answers.ts'
import { shownCost, type Sum, nothing } from './sums.ts'
import { type Child, append, el, div } from './element.ts'
import { costWords, count, date, isoMoment, moment, utcDay, counted } from './format.ts'
import { type Gateway, type Query, curlOf, pathOf, wholeList } from './gateway.ts'
import { budgetWords } from './key-limits.ts'
import { keySums } from './key-sums.ts'
import { expiryOf, nameOr, stateOf } from './key-state.ts'
import { turning, filterSelect } from './list-view.ts'
import type { View } from './page.ts'
import { heading, link, stack, refusedIn } from './parts.ts'
import { teamChoice } from './team-field.ts'
import { type Column, lamp, table } from './table.ts'
import { teamHash } from './team-words.ts'

const pageRows = 100
/** No list has more pages. */
const mostPage = 1_000_000
/** Pages of 100 keys that a CSV has at most. */
const mostPages = 100

/** The fields by which the gateway orders keys, by the heads of their columns. */
const orders: Readonly<Record<string, string>> = {
  ...{ Name: 'name', Team: 'team', Made: 'created_at', Expires: 'expires_at' },
}

/** What the reader has chosen; all of it stands in the address. */
interface Choice {
  q: string
  /** The head of a column; empty for the newest first. */
  sort: string
  down: boolean
  page: number
  state: string
  team: string
}

const choiceOf = (query: URLSearchParams): Choice => {
  const sort = query.get('sort') ?? ''
  return {
    ...{ q: query.get('q') ?? '', state: query.get('state') ?? '', team: query.get('team') ?? '' },
    sort: Object.hasOwn(orders, sort) ? sort : '',
    down: query.get('down') !== null,
    page: Math.min(mostPage, Math.max(1, Number.parseInt(query.get('page') ?? '1', 10) || 1)),
  }
}

const addressOf = ({ q, sort, down, page, state, team }: Choice): string =>
  pathOf('#/keys', { q, sort, down: down ? '1' : null, state, team, page: page === 1 ? null : page })

const queryOf = ({ q, sort, down, state, team }: Choice): Query => ({
  ...{ search: q, state, team },
  ...(sort !== '' && { sort: orders[sort] ?? null, direction: down ? 'down' : 'up' }),
})

const iso = (at: number | null): string | null => (at === null ? null : isoMoment(at))

const nameColumns = (now: number): readonly Column<Key>[] => [
  {
    head: 'Name',
    value: ({ name }) => name,
    show: (key) => [
      link(nameOr(key, '(no name)'), `#/keys/${encodeURIComponent(key.id)}`),
      el('small', { class: 'short' }, `…${key.hint}`),
    ],
  },
  {
    head: 'Team',
    value: ({ team }) => team,
    show: ({ team }) => (team === null ? '–' : link(team, teamHash(team))),
  },
  lamp('State', (key) => stateOf(key, now)),
  { head: 'Last letters', value: ({ hint }) => hint, hidden: true },
]

/** `costs` has the cells whose sums come later. */
const columns = (
  now: number,
  sums: ReadonlyMap<string, Sum>,
  costs: Map<string, HTMLElement>,
): readonly Column<Key>[] => [
  ...nameColumns(now),
  {
    head: 'Scopes',
    value: ({ scopes }) => scopes.join(' '),
    show: ({ scopes }) => el('span', { title: scopes.join(' ') }, count(scopes.length)),
    number: true,
  },
  {
    head: 'Models',
    value: ({ models }) => models?.join(' ') ?? 'all',
    show: ({ models }) => (models === null ? 'all' : models.join(', ')),
  },
  { head: 'Budget', value: budgetWords },
  { head: 'Last use', value: ({ last_used }) => last_used ?? null },
  {
    head: costWords('30 days'),
    value: ({ id }) => sums.get(id)?.cost ?? null,
    show({ id }) {
      const cell = el('span', {}, '…')
      costs.set(id, cell)
      return cell
    },
    number: true,
  },
  {
    head: 'Made',
    value: ({ created_at }) => iso(created_at),
    show: ({ created_at }) => el('span', { title: moment(created_at) }, date(created_at)),
  },
  {
    head: 'Expires',
    value: ({ expires_at }) => iso(expires_at),
    show: (key) => el('span', { title: expiryOf(key) }, key.expires_at === null ? 'never' : date(key.expires_at)),
  },
]

interface Listed {
  readonly keys: readonly Key[]
  readonly pagination: Paged
}

const read = (gateway: Gateway, choice: Choice): Promise<Listed> =>
  gateway.ask<Listed>(
    'GET',
    pathOf('/admin/keys', { ...queryOf(choice), limit: pageRows, offset: (choice.page - 1) * pageRows }),
  )

/** Costs come behind the list, and fill its cells. */
const fillCosts = async (gateway: Gateway, sums: Map<string, Sum>, costs: ReadonlyMap<string, HTMLElement>) => {
  const found = await keySums(gateway, [...costs.keys()], utcDay(Date.now(), 29)).catch(() => null)
  for (const [id, cell] of costs) {
    const sum = found?.get(id) ?? null
    if (sum !== null) sums.set(id, sum)
    cell.replaceChildren()
    append(cell, [sum === null ? '–' : shownCost(sum)])
  }
}

const keyTable = ({ gateway, signal }: View, listed: Listed, choice: Choice, choose: (head: string) => void) => {
  const sums = new Map<string, Sum>()
  const costs = new Map<string, HTMLElement>()
  const { total } = listed.pagination
  const saved = async (): Promise<readonly Key[]> => {
    const { rows } = await wholeList<Key>(gateway, '/admin/keys', 'keys', queryOf(choice), mostPages)
    const ids = rows.map(({ id }) => id)
    for (const [id, sum] of await keySums(gateway, ids, utcDay(Date.now(), 29), mostPages)) sums.set(id, sum ?? nothing)
    return rows
  }
  const node = table<Key>({
    title: counted(total, 'key'),
    file: 'keys',
    columns: columns(Date.now(), sums, costs),
    rows: listed.keys,
    curl: curlOf(gateway.base, pathOf('/admin/keys', { ...queryOf(choice), limit: pageRows })),
    empty: choice.q + choice.state + choice.team === '' ? 'There is no key.' : 'No key fits the search.',
    saved,
    order: { by: choice.sort, descending: choice.down, heads: Object.keys(orders), choose },
  })
  if (!signal.aborted && costs.size > 0) void fillCosts(gateway, sums, costs)
  return node
}

const states = ['active', 'expired', 'revoked']

const stateChoice = (choice: Choice, chosen: (state: string) => void): HTMLElement =>
  filterSelect({ name: 'state', label: 'State', of: String }, states, choice.state, chosen)

/** The page that an address names, or the last page where the list no longer has that one. */
const readNamed = async (gateway: Gateway, choice: Choice): Promise<Listed> => {
  const listed = await read(gateway, choice)
  const last = Math.max(1, Math.ceil(listed.pagination.total / pageRows))
  return choice.page <= last ? listed : read(gateway, Object.assign(choice, { page: last }))
}

/** Keys as the gateway searches, filters and orders them, in pages. */
export const keyList = async (view: View): Promise<readonly Child[]> => {
  const { gateway } = view
  const choice = choiceOf(view.query)
  const region = stack()
  let [isBusy, isStale] = [false, false]
  const show = ({ keys, pagination }: Listed): void => {
    const isFocused = region.querySelector('th button:focus') !== null
    const nodes: readonly (HTMLElement | null)[] = [
      keyTable(view, { keys, pagination }, choice, choose),
      turning(choice.page, Math.ceil(pagination.total / pageRows), (page) => keep({ page })),
    ]
    region.replaceChildren(...nodes.filter((node) => node !== null))
    if (isFocused) region.querySelector<HTMLElement>('[aria-sort] button')?.focus()
  }
  /** One question at a time; what the reader chooses meanwhile is asked next. */
  const draw = async (): Promise<void> => {
    isStale = true
    if (isBusy) return
    isBusy = true
    region.setAttribute('aria-busy', 'true')
    while (isStale && !view.signal.aborted) {
      isStale = false
      await read(gateway, choice).then(show, refusedIn(region))
    }
    isBusy = false
    region.removeAttribute('aria-busy')
  }
  const keep = (change: Partial<Choice>): void => {
    Object.assign(choice, { page: 1 }, change)
    history.replaceState(history.state, '', addressOf(choice))
    void draw()
  }
  const choose = (head: string): void => keep({ sort: head, down: choice.sort === head && !choice.down })
  const search = el('input', {
    ...{ type: 'search', class: 'search', placeholder: 'Search', 'aria-label': 'Search keys' },
    ...{ value: choice.q, autocomplete: 'off', spellcheck: 'false' },
    on: { input: () => keep({ q: search.value.trim() }) },
  })
  const team = teamChoice(gateway, {
    ...{ value: choice.team, placeholder: 'Team: all', 'aria-label': 'Team', 'data-filter': 'team' },
    on: { change: ({ target }) => keep({ team: (target as HTMLInputElement).value.trim() }) },
  })
  show(await readNamed(gateway, choice))
  return [
    heading('Keys', link('New key', '#/keys/new', 'button main')),
    div(
      'choices',
      div(
        'span',
        search,
        stateChoice(choice, (state) => keep({ state })),
        team,
      ),
    ),
    region,
  ]
}
