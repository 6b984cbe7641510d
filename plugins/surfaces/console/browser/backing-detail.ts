import type { Backing } from './answers.ts'
import { ageOf, faultOfCall, faultWords, faultsOf, lampOf } from './backing.ts'
import { type Child, el } from './element.ts'
import { clockTime, cost, costWords, count, counted } from './format.ts'
import { curlOf } from './gateway.ts'
import { type View, every, reading, renew } from './page.ts'
import { badge, facts, heading, link, note, section, stack, toldPlace, button, select, refusedIn } from './parts.ts'
import { plot } from './plot.ts'
import { outcomeOf, timeOf } from './running.ts'
import { figure, table } from './table.ts'
import { ask } from './dialog.ts'

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

interface Asked {
  readonly models: number | null
  readonly fault: string | null
  readonly ms: number
}

const rests: readonly (readonly [seconds: number, words: string])[] = [
  [60, '1 minute'],
  [600, '10 minutes'],
  [3_600, '1 hour'],
]

const askedWords = ({ models, fault, ms }: Asked): string =>
  fault === null
    ? `Lists ${counted(models ?? 0, 'model')}, in ${timeOf(ms)}.`
    : `No list: ${faultWords(fault)}, after ${timeOf(ms)}.`

const processWords = (processes: number): string => (processes === 1 ? '' : ` in ${processes} processes`)

/** What an operator may do with a backend; `place` shows how it ended. */
const backingActs = (
  { gateway }: View,
  backend: string,
  place: HTMLElement,
  again: () => Promise<void>,
): readonly HTMLElement[] => {
  const act = <T>(name: string, body?: object) =>
    gateway.ask<T>('POST', `/admin/backends/${encodeURIComponent(backend)}/${name}`, body)
  const say = async (words: string): Promise<void> => {
    place.replaceChildren(el('p', { role: 'status' }, words))
    await again()
  }
  const refused = refusedIn(place)
  const choice = select({ 'aria-label': 'How long the backend rests' }, rests)
  const rest = async (): Promise<void> => {
    const { processes } = await act<{ processes: number }>('rest', { seconds: Number(choice.value) })
    await say(`${backend} rests${processWords(processes)}.`)
  }
  const askNow = async (): Promise<void> => {
    place.replaceChildren(el('p', { role: 'status' }, 'Asking'))
    await say(askedWords(await act<Asked>('ask')))
  }
  const wake = async (): Promise<void> => {
    const { processes } = await act<{ processes: number }>('wake')
    await say(`${backend} is awake${processWords(processes)}.`)
  }
  const question = () =>
    ask({
      title: `Rest ${backend}?`,
      words: el('p', {}, 'No call goes to it for ', choice, '. Models without another backend answer 503 meanwhile.'),
      yes: 'Rest',
      act: rest,
    })
  return [
    button('Ask now', () => askNow().catch(refused)),
    button('Wake', () => wake().catch(refused)),
    button('Rest', question, 'danger'),
  ]
}
