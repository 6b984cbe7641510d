import type { Key, Usage } from '../answers.ts'
import { costTile } from '../costs.ts'
import { type Child, el, freshId } from '../element.ts'
import { cost, count, utcDay } from '../format.ts'
import { curlOf, pathOf } from '../gateway.ts'
import { wholeList } from '../listing.ts'
import type { Page, View } from '../page.ts'
import { heading, link, note, section, tile, tiles, warning } from '../parts.ts'
import { type Bar, plot } from '../plot.ts'
import { type Sum, daysBetween, nothing, sumOf, sumsBy } from '../sums.ts'
import { usageTable } from '../usage-table.ts'

/** Rows of usage name these; the gateway sums the rest itself. */
const rowGroups = ['day', 'model', 'key'] as const
const groups = [...rowGroups, 'team', 'user', 'tag', 'backend'] as const
type Group = (typeof groups)[number]

const heads: Readonly<Record<Group, string>> = {
  ...{ day: 'Day (UTC)', model: 'Model', key: 'Key' },
  ...{ team: 'Team', user: 'User', tag: 'Tag', backend: 'Backend' },
}

interface UsageQuery {
  readonly by: Group
  readonly from: string
  readonly to: string
  readonly model: string
  readonly key: string
}

/** Sums in one answer of the gateway. */
const mostSums = 1_000

interface SumsAnswer {
  readonly sums: readonly (Sum & { readonly name: string | null })[]
  readonly next: string | null
}

const isDay = (text: string | null): text is string => text !== null && /^\d{4}-\d\d-\d\d$/.test(text)

const choiceOf = (query: URLSearchParams): UsageQuery => {
  const [from, to, now] = [query.get('from'), query.get('to'), Date.now()]
  return {
    by: groups.find((group) => group === query.get('by')) ?? 'day',
    from: isDay(from) ? from : utcDay(now, 29),
    to: isDay(to) ? to : utcDay(now),
    model: query.get('model') ?? '',
    key: query.get('key') ?? '',
  }
}

const isRowGroup = (group: Group): group is (typeof rowGroups)[number] => rowGroups.some((name) => name === group)

const hashOf = (asked: UsageQuery): string => pathOf('#/usage', { ...asked })

const choices = (view: View, asked: UsageQuery): HTMLElement => {
  const day = (name: 'from' | 'to', label: string) => {
    const id = freshId(name)
    const change = (event: Event) => {
      const { value } = event.target as HTMLInputElement
      if (isDay(value)) view.go(hashOf({ ...asked, [name]: value }))
    }
    return [el('label', { for: id }, label), el('input', { id, type: 'date', value: asked[name], on: { change } })]
  }
  const tab = (by: Group) =>
    el('a', { href: hashOf({ ...asked, by }), 'aria-current': by === asked.by ? 'true' : null }, `By ${by}`)
  return el(
    'div',
    { class: 'choices' },
    el('div', { class: 'tabs', role: 'group', 'aria-label': 'Sum of usage' }, groups.map(tab)),
    el('div', { class: 'span' }, day('from', 'From'), day('to', 'to')),
  )
}

const narrowed = (asked: UsageQuery, names: ReadonlyMap<string, string>): readonly Child[] =>
  (['model', 'key'] as const).flatMap((field) =>
    asked[field] === ''
      ? []
      : [
          el(
            'p',
            { class: 'chip' },
            `Only ${field} `,
            el('b', {}, names.get(asked[field]) ?? asked[field]),
            ' ',
            link(`show every ${field}`, hashOf({ ...asked, [field]: '' })),
          ),
        ],
  )

const barOf = (day: string, sum: Sum): Bar => ({
  name: day,
  solid: sum.requests - sum.unpriced,
  hatched: sum.unpriced,
  words: `${day}: ${count(sum.requests)} requests, ${count(sum.unpriced)} unpriced, ${sum.cost === null ? 'no known cost' : `cost ${cost(sum.cost)}`}`,
})

const nameOf = ({ name, hint }: Key): string => (name === '' ? `(no name, …${hint})` : name)

/** Sums by what the rows of usage do not name: the gateway keeps them. Narrowed to no key and no model. */
const summed = async (view: View, { by, from, to }: UsageQuery): Promise<readonly Child[]> => {
  const { gateway } = view
  const path = pathOf('/admin/usage/sums', { by, from, to, limit: mostSums })
  const { sums, next } = await gateway.ask<SumsAnswer>('GET', path)
  const rows = sums.map(({ name, ...sum }) => ({ name: name ?? `no ${by}`, sum }))
  rows.sort((one, other) => other.sum.requests - one.sum.requests)
  return [
    usageTable({
      title: `Usage by ${by}`,
      file: `usage-by-${by}-${from}-${to}`,
      by: heads[by],
      rows,
      curl: curlOf(gateway.base, path),
    }),
    next !== null &&
      note(`The first ${count(mostSums)} names are shown: choose fewer days, or ask for the next page by curl.`),
    by === 'tag' && note('A call with several tags counts under each of them.'),
  ]
}

export const usage: Page = {
  name: 'usage',
  title: 'Usage',
  sees: ({ administers }) => administers,
  async show(view) {
    const { gateway } = view
    const asked = choiceOf(view.query)
    const wanted = view.query.get('by')
    if (wanted !== null && wanted !== asked.by)
      return [heading('Usage and cost'), warning(`Usage is not summed by ${wanted}.`), choices(view, asked)]
    if (!isRowGroup(asked.by)) return [heading('Usage and cost'), choices(view, asked), ...(await summed(view, asked))]
    const { by } = asked
    const query = { from: asked.from, to: asked.to, key: asked.key }
    const [list, keys] = await Promise.all([
      wholeList<Usage>(gateway, '/admin/usage', 'usage', query),
      wholeList<Key>(gateway, '/admin/keys', 'keys'),
    ])
    const names = new Map(keys.rows.map((it) => [it.id, nameOf(it)]))
    const rows = list.rows.filter(({ model }) => asked.model === '' || model === asked.model)
    const sum = sumOf(rows)
    const byDay = sumsBy(rows, ({ day }) => day)
    const sums = [...sumsBy(rows, (row) => row[by])].map(([name, sum]) => ({ name, sum }))
    if (asked.by !== 'day') sums.sort((one, other) => other.sum.requests - one.sum.requests)
    const deeper = (name: string): Child => {
      if (asked.by === 'day') return link(name, hashOf({ ...asked, by: 'model', from: name, to: name }))
      if (asked.by === 'model') return link(name, hashOf({ ...asked, by: 'day', model: name }))
      return link(names.get(name) ?? name, hashOf({ ...asked, by: 'day', key: name }))
    }
    return [
      heading('Usage and cost'),
      choices(view, asked),
      narrowed(asked, names),
      tiles(
        tile('Requests', count(sum.requests), `${count(sum.unanswered)} errors`),
        tile('Input tokens', count(sum.input), `${count(sum.cached)} of them cached`),
        tile('Output tokens', count(sum.output), `${count(sum.reasoning)} of them reasoning`),
        costTile('Cost', sum),
      ),
      asked.by === 'day' &&
        section(
          'Requests by day',
          plot({
            title: `Requests from ${asked.from} to ${asked.to}`,
            bars: daysBetween(asked.from, asked.to).map((day) => barOf(day, byDay.get(day) ?? nothing)),
            worded: count,
            hatchedWords: 'unpriced',
          }),
        ),
      usageTable({
        title: `Usage by ${asked.by}`,
        file: `usage-by-${asked.by}-${asked.from}-${asked.to}`,
        by: heads[asked.by],
        rows: sums,
        curl: curlOf(gateway.base, pathOf('/admin/usage', { ...query, limit: 100 })),
        shownName: deeper,
      }),
      list.total > list.rows.length &&
        note(`The sums hold the newest ${count(list.rows.length)} of ${count(list.total)} rows: choose fewer days.`),
      note('Cached tokens are part of input, reasoning of output. A call without a known price is unpriced, never 0.'),
    ]
  },
}
