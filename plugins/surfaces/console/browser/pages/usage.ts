import type { Key, Usage } from '../answers.ts'
import { costTile } from '../costs.ts'
import { type Child, el, freshId } from '../element.ts'
import { cost, count, utcDay } from '../format.ts'
import { curlOf, pathOf } from '../gateway.ts'
import { wholeList } from '../listing.ts'
import type { Page, View } from '../page.ts'
import { heading, link, note, section, tile, tiles } from '../parts.ts'
import { type Bar, plot } from '../plot.ts'
import { type Sum, daysBetween, nothing, sumOf, sumsBy } from '../sums.ts'
import { usageTable } from '../usage-table.ts'

const groups = ['day', 'model', 'key'] as const
type Group = (typeof groups)[number]

interface UsageQuery {
  readonly by: Group
  readonly from: string
  readonly to: string
  readonly model: string
  readonly key: string
}

const isDay = (text: string | null): text is string => text !== null && /^\d{4}-\d\d-\d\d$/.test(text)

const askedOf = (query: URLSearchParams): UsageQuery => {
  const [from, to, now] = [query.get('from'), query.get('to'), Date.now()]
  return {
    by: groups.find((it) => it === query.get('by')) ?? 'day',
    from: isDay(from) ? from : utcDay(now, 29),
    to: isDay(to) ? to : utcDay(now),
    model: query.get('model') ?? '',
    key: query.get('key') ?? '',
  }
}

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

export const usage: Page = {
  name: 'usage',
  title: 'Usage',
  sees: ({ administers }) => administers,
  async show(view) {
    const { gateway } = view
    const asked = askedOf(view.query)
    const query = { from: asked.from, to: asked.to, key: asked.key }
    const [list, keys] = await Promise.all([
      wholeList<Usage>(gateway, '/admin/usage', 'usage', query),
      wholeList<Key>(gateway, '/admin/keys', 'keys'),
    ])
    const names = new Map(keys.rows.map((it) => [it.id, nameOf(it)]))
    const rows = list.rows.filter(({ model }) => asked.model === '' || model === asked.model)
    const sum = sumOf(rows)
    const byDay = sumsBy(rows, ({ day }) => day)
    const sums = [...sumsBy(rows, (it) => it[asked.by])].map(([name, sum]) => ({ name, sum }))
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
        tile('Requests', count(sum.requests), `${count(sum.unanswered)} unanswered`),
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
        by: asked.by === 'day' ? 'Day (UTC)' : asked.by === 'key' ? 'Key' : 'Model',
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
