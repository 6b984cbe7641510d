import type { Key, Usage } from '../answers.ts'
import { shownCost } from '../costs.ts'
import { type Child, el } from '../element.ts'
import { costWords, count, date, moment, utcDay } from '../format.ts'
import { curlOf, pathOf } from '../gateway.ts'
import { keyDetail } from '../key-detail.ts'
import { keyForm } from '../key-form.ts'
import { budgetWords } from '../key-limits.ts'
import { expiryOf, isAlive, stateOf } from '../key-state.ts'
import { listView } from '../list-view.ts'
import { wholeList } from '../listing.ts'
import type { Page, View } from '../page.ts'
import { badge, heading, link, note } from '../parts.ts'
import { type Sum, nothing, sumsBy } from '../sums.ts'
import type { Column } from '../table.ts'
import { teamHash } from '../team-words.ts'

/** Pages of 100 keys that the console reads at most. */
const mostPages = 100

interface Row {
  readonly key: Key
  readonly sum: Sum
  /** In UTC; null for none in the last 30 days. */
  readonly lastUse: string | null
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

const columns = (now: number): readonly Column<Row>[] => [
  {
    head: 'Name',
    value: ({ key }) => key.name,
    show: ({ key }) => link(key.name === '' ? '(no name)' : key.name, `#/keys/${encodeURIComponent(key.id)}`),
  },
  {
    head: 'Team',
    value: ({ key }) => key.team,
    show: ({ key }) => (key.team === null ? '–' : link(key.team, teamHash(key.team))),
  },
  {
    head: 'State',
    value: ({ key }) => stateOf(key, now).words,
    show: ({ key }) => badge(stateOf(key, now).kind, stateOf(key, now).words),
  },
  { head: 'Last letters', value: ({ key }) => key.hint, show: ({ key }) => el('code', {}, `…${key.hint}`) },
  {
    head: 'Scopes',
    value: ({ key }) => key.scopes.join(' '),
    show: ({ key }) => el('span', { title: key.scopes.join(' ') }, count(key.scopes.length)),
    number: true,
  },
  {
    head: 'Models',
    value: ({ key }) => key.models?.join(' ') ?? 'all',
    show: ({ key }) => (key.models === null ? 'all' : key.models.join(', ')),
  },
  { head: 'Budget', value: ({ key }) => budgetWords(key) },
  { head: 'Last use', value: ({ lastUse }) => lastUse },
  { head: costWords('Cost, 30 days'), value: ({ sum }) => sum.cost, show: ({ sum }) => shownCost(sum), number: true },
  {
    head: 'Made',
    value: ({ key }) => iso(key.created_at),
    show: ({ key }) => el('span', { title: moment(key.created_at) }, date(key.created_at)),
  },
  {
    head: 'Expires',
    value: ({ key }) => iso(key.expires_at),
    show: ({ key }) => el('span', { title: expiryOf(key) }, key.expires_at === null ? 'never' : date(key.expires_at)),
  },
]

/** What a search looks through. */
const wordsOf = ({ key }: Row): string =>
  [key.name, key.id, key.hint, key.user, key.team ?? '', ...key.scopes, ...(key.models ?? [])].join(' ')

const states = (now: number) => ({
  name: 'state',
  label: 'State',
  of: ({ key }: Row) => (isAlive(key, now) ? 'active' : key.revoked_at === null ? 'expired' : 'revoked'),
})

const list = async (view: View): Promise<readonly Child[]> => {
  const { gateway } = view
  const [keys, uses] = await Promise.all([
    wholeList<Key>(gateway, '/admin/keys', 'keys', {}, mostPages),
    wholeList<Usage>(gateway, '/admin/usage', 'usage', { from: utcDay(Date.now(), 29) }),
  ])
  const sums = sumsBy(uses.rows, ({ key }) => key)
  const rows = keys.rows.map((key) => ({
    key,
    sum: sums.get(key.id) ?? nothing,
    lastUse: key.last_used ?? uses.rows.find((row) => row.key === key.id)?.day ?? null,
  }))
  const now = Date.now()
  return [
    heading('Keys', link('New key', '#/keys/new', 'button main')),
    ...listView<Row>({
      view,
      path: '#/keys',
      table: {
        title: `${count(keys.total)} ${keys.total === 1 ? 'key' : 'keys'}`,
        file: 'keys',
        columns: columns(now),
        rows,
        curl: curlOf(gateway.base, pathOf('/admin/keys', { limit: 100 })),
        empty: 'There is no key.',
      },
      words: wordsOf,
      filters: [states(now), { name: 'team', label: 'Team', of: ({ key }) => key.team ?? '' }],
    }),
    keys.total > rows.length && note(`The newest ${count(rows.length)} keys are shown.`),
    uses.total > uses.rows.length && note('The costs hold the newest 2,000 rows of usage alone.'),
  ]
}

export const keys: Page = {
  name: 'keys',
  title: 'Keys',
  sees: ({ administers }) => administers,
  async show(view) {
    const [id] = view.path
    if (id === undefined) return list(view)
    return id === 'new' ? keyForm(view) : keyDetail(view, id)
  },
}
