import type { Backing } from './answers.ts'
import { ageOf, faultOfCall, faultWords, faultsOf, lampOf } from './backing.ts'
import { backingActs } from './backing-acts.ts'
import type { Child } from './element.ts'
import { clockTime, cost, costWords, count, counted } from './format.ts'
import { curlOf } from './gateway.ts'
import { type View, every, reading, renew } from './page.ts'
import { badge, facts, heading, link, note, section, stack, toldPlace } from './parts.ts'
import { plot } from './plot.ts'
import { outcomeOf, timeOf } from './running.ts'
import { figure, table } from './table.ts'

type Call = Backing['calls'][number]

/** Ms between two readings. */
const pace = 5_000

const about = (backing: Backing, passed: number): HTMLElement => {
  const { kind, words } = lampOf(backing, passed)
  const { requests, input, output, unpriced, cost: sum } = backing.used
  return section(
    'Backend',
    facts([
      ['Breaker', badge(kind, words)],
      ['Faults', faultsOf(backing)],
      ['p50, p95', `${timeOf(backing.p50_ms)}, ${timeOf(backing.p95_ms)}`],
      ['First token', `${timeOf(backing.first_token_p50_ms)}, ${timeOf(backing.first_token_p95_ms)} (p50, p95)`],
      ['Age of its list', ageOf(backing, Date.now())],
      ['Requests', `${count(requests)}${unpriced > 0 ? `, ${count(unpriced)} unpriced` : ''}`],
      ['Tokens', `${count(input)} in, ${count(output)} out`],
      [costWords(), sum === null ? 'unpriced' : cost(sum)],
      ...backing.breakers.map(
        (each) =>
          [`Model ${each.model}`, badge(lampOf(each, passed).kind, lampOf(each, passed).words), 'wide'] as const,
      ),
    ]),
  )
}

const faultCell = (call: Call): string => {
  const kind = faultOfCall(call)
  return kind === null ? '–' : faultWords(kind)
}

const callTable = (backing: Backing, curl: string): HTMLElement =>
  table<Call>({
    title: `The last ${counted(backing.calls.length, 'call')}`,
    file: `calls-of-${backing.backend}`,
    rows: backing.calls.toReversed(),
    curl,
    empty: 'No call was made since the gateway started.',
    columns: [
      { head: 'Ended', value: ({ at }) => new Date(at).toISOString(), show: ({ at }) => clockTime(at) },
      {
        head: 'Outcome',
        value: ({ outcome }) => outcome,
        show: (call) => badge(outcomeOf(call).kind, outcomeOf(call).words),
      },
      { head: 'Fault', value: faultOfCall, show: faultCell },
      figure('Time', ({ ms }) => ms, timeOf),
    ],
  })

const callPlot = ({ calls }: Backing): HTMLElement =>
  plot({
    title: 'Time of the last calls',
    hatchedWords: 'with a fault',
    worded: timeOf,
    bars: calls.map((call) => {
      const isFault = faultOfCall(call) !== null
      return {
        name: clockTime(call.at),
        solid: isFault ? 0 : call.ms,
        hatched: isFault ? call.ms : 0,
        words: `${clockTime(call.at)}: ${outcomeOf(call).words}, ${timeOf(call.ms)}`,
      }
    }),
  })

/** One backend with its last calls, and what operators do with it. */
export const backingDetail = async (view: View, name: string): Promise<readonly Child[]> => {
  const { gateway, sight, signal } = view
  const [place, region, told] = [stack(), stack(), toldPlace()]
  const curl = curlOf(gateway.base, '/admin/backends')
  let read: { readonly backing: Backing | null; readonly at: number } = { backing: null, at: 0 }
  const draw = async (): Promise<void> => {
    const { backing, at } = read
    if (backing === null) return region.replaceChildren(note('There is no such backend.'))
    renew(
      region,
      about(backing, Date.now() - at),
      ...(backing.calls.length === 0 ? [] : [section('In time', callPlot(backing))]),
      callTable(backing, curl),
    )
  }
  const again = async (): Promise<void> => {
    const { backends } = await gateway.ask<{ readonly backends: readonly Backing[] }>('GET', '/admin/backends')
    read = { backing: backends.find(({ backend }) => backend === name) ?? null, at: Date.now() }
    await draw()
  }
  await again()
  every(pace, signal, reading(view, told, again))
  every(1_000, signal, draw)
  return [
    heading(
      name,
      told,
      link('All backends', '#/models'),
      sight.steers && read.backing !== null && backingActs(view, name, place, again),
    ),
    place,
    region,
  ]
}
