import type { Backing } from './answers.ts'
import { ageOf, faultsOf, lampOf } from './backing.ts'
import { cost, costWords, count } from './format.ts'
import { badge } from './parts.ts'
import { timeOf } from './running.ts'
import { figure, linked, table } from './table.ts'

/** Each backend as it stands; `passed` is ms since it was read. */
export const backingTable = (rows: readonly Backing[], curl: string, passed: number, now: number): HTMLElement =>
  table<Backing>({
    title: 'Backends',
    file: 'backends',
    rows,
    curl,
    empty: 'No backend is configured.',
    columns: [
      linked(
        'Backend',
        ({ backend }) => backend,
        (backend) => `#/models/backend/${encodeURIComponent(backend)}`,
      ),
      {
        head: 'Breaker',
        value: ({ state }) => state,
        show: (backing) => badge(lampOf(backing, passed).kind, lampOf(backing, passed).words),
      },
      { head: 'Faults of the last 20', value: faultsOf },
      figure('p50', (backing) => backing.p50_ms, timeOf),
      figure('p95', (backing) => backing.p95_ms, timeOf),
      figure('First token, p50', (backing) => backing.first_token_p50_ms, timeOf),
      {
        head: 'Age of its list',
        value: (backing) => backing.listed_at,
        show: (backing) => ageOf(backing, now),
        number: true,
      },
      figure('Requests', ({ used }) => used.requests, count),
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
