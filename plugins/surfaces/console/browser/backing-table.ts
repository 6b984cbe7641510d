import type { Backing } from './answers.ts'
import { ageOf, faultsOf, lampOf } from './backing.ts'
import { cost, costWords, count } from './format.ts'
import { badge, link } from './parts.ts'
import { timeOf } from './running.ts'
import { type Column, table } from './table.ts'

type Time = 'p50_ms' | 'p95_ms' | 'first_token_p50_ms'

const time = (head: string, name: Time): Column<Backing> => ({
  head,
  value: (backing) => backing[name],
  show: (backing) => timeOf(backing[name]),
  number: true,
})

/** Each backend as it stands; `passed` is ms since it was read. */
export const backingTable = (rows: readonly Backing[], curl: string, passed: number, now: number): HTMLElement =>
  table<Backing>({
    title: 'Backends',
    file: 'backends',
    rows,
    curl,
    empty: 'No backend is configured.',
    columns: [
      {
        head: 'Backend',
        value: ({ backend }) => backend,
        show: ({ backend }) => link(backend, `#/models/backend/${encodeURIComponent(backend)}`),
      },
      {
        head: 'Breaker',
        value: ({ state }) => state,
        show: (backing) => badge(lampOf(backing, passed).kind, lampOf(backing, passed).words),
      },
      { head: 'Faults of the last 20', value: faultsOf },
      time('p50', 'p50_ms'),
      time('p95', 'p95_ms'),
      time('First token, p50', 'first_token_p50_ms'),
      {
        head: 'Age of its list',
        value: (backing) => backing.listed_at,
        show: (backing) => ageOf(backing, now),
        number: true,
      },
      { head: 'Requests', value: ({ used }) => used.requests, show: ({ used }) => count(used.requests), number: true },
      {
        head: 'Tokens in / out',
        value: ({ used }) => `${used.input} / ${used.output}`,
        show: ({ used }) => `${count(used.input)} / ${count(used.output)}`,
        number: true,
      },
      {
        head: costWords(),
        value: ({ used }) => used.cost,
        show: ({ used }) => (used.cost === null ? 'unpriced' : cost(used.cost)),
        number: true,
      },
    ],
  })
