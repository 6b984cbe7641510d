import type { Key, Team, Usage } from './answers.ts'
import { costTile } from './costs.ts'
import { type Child, div, el } from './element.ts'
import { cost, costWords, count, utcDay, counted } from './format.ts'
import { curlOf, pathOf } from './gateway.ts'
import { nameOr } from './key-state.ts'
import { wholeList } from './listing.ts'
import type { View } from './page.ts'
import { button, dateFields, heading, link, note, tile, tiles, warning } from './parts.ts'
import { sumOf, sumsBy } from './sums.ts'
import { teamHash, teamPath } from './team-words.ts'
import { usageTable } from './usage-table.ts'

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
export const statement = async (view: View, name: string, month: string): Promise<readonly Child[]> => {
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
