import type { Traffic } from './answers.ts'
import { knownCost } from './costs.ts'
import type { Child } from './element.ts'
import { costWords, count, moment, counted } from './format.ts'
import { curlOf } from './gateway.ts'
import type { View } from './page.ts'
import { link, note, section } from './parts.ts'
import { plot } from './plot.ts'
import { figure, table } from './table.ts'
import { type UsageQuery, usageHash } from './usage-query.ts'

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
export const usageHours = async ({ gateway, sight }: View, query: UsageQuery): Promise<readonly Child[]> => {
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
