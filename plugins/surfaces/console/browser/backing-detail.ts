import type { Backing } from './answers.ts'
import { ageOf, faultOfCall, faultWords, faultsOf, lampOf } from './backing.ts'
import { backingActs } from './backing-acts.ts'
import type { Child } from './element.ts'
import { clockTime, cost, costWords, count } from './format.ts'
import { curlOf } from './gateway.ts'
import { type View, every, renew } from './page.ts'
import { badge, facts, heading, link, note, section, stack } from './parts.ts'
import { plot } from './plot.ts'
import { outcomeOf, timeOf } from './running.ts'
import { table } from './table.ts'

type Call = Backing['calls'][number]

/** Ms between two readings. */
const pace = 5_000

const about = (it: Backing, passed: number): HTMLElement => {
  const { kind, words } = lampOf(it, passed)
  const { requests, input, output, unpriced, cost: sum } = it.used
  return section(
    'Backend',
    facts([
      ['Breaker', badge(kind, words)],
      ['Faults', faultsOf(it)],
      ['p50, p95', `${timeOf(it.p50_ms)}, ${timeOf(it.p95_ms)}`],
      ['First token', `${timeOf(it.first_token_p50_ms)}, ${timeOf(it.first_token_p95_ms)} (p50, p95)`],
      ['Age of its list', ageOf(it, Date.now())],
      ['Requests', `${count(requests)}${unpriced > 0 ? `, ${count(unpriced)} unpriced` : ''}`],
      ['Tokens', `${count(input)} in, ${count(output)} out`],
      [costWords(), sum === null ? 'unpriced' : cost(sum)],
      ...it.breakers.map(
        (each) =>
          [`Model ${each.model}`, badge(lampOf(each, passed).kind, lampOf(each, passed).words), 'wide'] as const,
      ),
    ]),
  )
}

const faultCell = (it: Call): string => {
  const kind = faultOfCall(it)
  return kind === null ? '–' : faultWords(kind)
}

const callTable = (it: Backing, curl: string): HTMLElement =>
  table<Call>({
    title: `The last ${it.calls.length} calls`,
    file: `calls-of-${it.backend}`,
    rows: it.calls.toReversed(),
    curl,
    empty: 'No call was made since the gateway started.',
    columns: [
      { head: 'Ended', value: ({ at }) => new Date(at).toISOString(), show: ({ at }) => clockTime(at) },
      {
        head: 'Outcome',
        value: ({ outcome }) => outcome,
        show: (it) => badge(outcomeOf(it).kind, outcomeOf(it).words),
      },
      { head: 'Fault', value: faultOfCall, show: faultCell },
      { head: 'Time', value: ({ ms }) => ms, show: ({ ms }) => timeOf(ms), number: true },
    ],
  })

const callPlot = ({ calls }: Backing): HTMLElement =>
  plot({
    title: 'Time of the last calls',
    hatchedWords: 'with a fault',
    worded: timeOf,
    bars: calls.map((it) => {
      const isFault = faultOfCall(it) !== null
      return {
        name: clockTime(it.at),
        solid: isFault ? 0 : it.ms,
        hatched: isFault ? it.ms : 0,
        words: `${clockTime(it.at)}: ${outcomeOf(it).words}, ${timeOf(it.ms)}`,
      }
    }),
  })

/** One backend with its last calls, and what operators do with it. */
export const backingDetail = async (view: View, name: string): Promise<readonly Child[]> => {
  const { gateway, sight, signal } = view
  const place = stack()
  const region = stack()
  const curl = curlOf(gateway.base, '/admin/backends')
  let read: { readonly it: Backing | null; readonly at: number } = { it: null, at: 0 }
  const draw = async (): Promise<void> => {
    const { it, at } = read
    if (it === null) return region.replaceChildren(note('There is no such backend.'))
    renew(
      region,
      about(it, Date.now() - at),
      ...(it.calls.length === 0 ? [] : [section('In time', callPlot(it))]),
      callTable(it, curl),
    )
  }
  const again = async (): Promise<void> => {
    const { backends } = await gateway.ask<{ readonly backends: readonly Backing[] }>('GET', '/admin/backends')
    read = { it: backends.find(({ backend }) => backend === name) ?? null, at: Date.now() }
    await draw()
  }
  await again()
  every(pace, signal, () => again().catch(() => undefined))
  every(1_000, signal, draw)
  return [
    heading(
      name,
      link('All backends', '#/models'),
      sight.steers && read.it !== null && backingActs(view, name, place, again),
    ),
    place,
    region,
  ]
}
