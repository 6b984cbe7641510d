import type { Attempt, Running } from './answers.ts'
import { el, svg } from './element.ts'
import { causeOf, lengthOf, outcomeOf, timeOf } from './running.ts'
import { figure, lamp, table } from './table.ts'

const thick = 22

/** When the attempt's part of the request ends: a stream goes on until the next attempt, or until the end. */
const endOf = ({ from, ms, streams, outcome }: Attempt, next: Attempt | null, whole: number): number => {
  if (ms === null) return whole
  const goesOn = streams && (outcome === 'answered' || outcome === 'broke')
  return goesOn ? Math.max(from + ms, next?.from ?? whole) : from + ms
}

const barOf = (attempt: Attempt, next: Attempt | null, whole: number): SVGElement => {
  const at = (ms: number) => `${whole === 0 ? 0 : (ms / whole) * 100}%`
  const waited = attempt.ms ?? whole - attempt.from
  const end = endOf(attempt, next, whole)
  const { kind, words } = outcomeOf(attempt)
  const place = { y: 3, height: thick - 6, rx: 2 }
  return svg(
    'svg',
    { role: 'img', 'aria-label': `${attempt.backend}: ${words} after ${timeOf(waited)}`, width: '100%', height: thick },
    svg('rect', { x: 0, y: thick / 2, width: '100%', height: 1, class: 'rail' }),
    svg('rect', {
      ...place,
      x: at(attempt.from),
      width: at(Math.max(end - attempt.from, whole / 200)),
      class: `stream ${kind}`,
    }),
    svg('rect', { ...place, x: at(attempt.from), width: at(Math.max(waited, whole / 200)), class: `wait ${kind}` }),
  )
}

/** The attempts of a request as bars under each other. The table beneath says the same. */
export const waterfall = (request: Running, now: number): HTMLElement => {
  const whole = lengthOf(request, now)
  return el(
    'figure',
    { class: 'waterfall' },
    el('figcaption', {}, 'Solid: until the answer, the first token or the fault. Pale: the stream that follows.'),
    request.attempts.map((attempt, at) => [
      el('span', {}, attempt.backend),
      barOf(attempt, request.attempts[at + 1] ?? null, whole),
    ]),
    el('span', {}),
    el('div', { class: 'ends', 'aria-hidden': 'true' }, el('span', {}, '0'), el('span', {}, timeOf(whole))),
  )
}

export const attemptTable = (request: Running, curl: string): HTMLElement =>
  table<Attempt>({
    title: 'Attempts',
    file: `attempts-${request.id}`,
    rows: request.attempts,
    curl,
    empty: 'No backend was asked.',
    columns: [
      { head: 'Backend', value: ({ backend }) => backend },
      { head: 'Backend’s model', value: ({ model }) => model },
      { head: 'Reason', value: causeOf },
      lamp('Outcome', outcomeOf),
      figure('Began after', ({ from }) => from, timeOf),
      figure('Waited', ({ ms }) => ms, timeOf),
      { head: 'Answer', value: ({ streams }) => (streams ? 'stream' : 'whole') },
    ],
  })
