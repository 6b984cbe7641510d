import type { Running } from './answers.ts'
import { type Child, el } from './element.ts'
import { clockTime, count } from './format.ts'
import { badge, link } from './parts.ts'
import { nameOr } from './key-state.ts'
import { attemptWords, standOf, timeOf } from './running.ts'
import { figure, table } from './table.ts'

/** Rows that a table shows at once. */
const mostRows = 100

/** What the list shows of a key. */
export interface NamedKey {
  readonly name: string
  readonly team: string | null
}

/** Keys by their ids. */
export type KeyNames = ReadonlyMap<string, NamedKey>

export const teamOf = ({ key }: Running, names: KeyNames): string | null => names.get(key ?? '')?.team ?? null

/** The name of a key, or the end of its id. */
export const keyWords = (id: string, names: KeyNames): string => {
  return nameOr({ name: names.get(id)?.name ?? '' }, `…${id.slice(-8)}`)
}

const keyLink = (id: string | null, names: KeyNames): Child =>
  id === null
    ? '–'
    : names.has(id)
      ? link(keyWords(id, names), `#/keys/${encodeURIComponent(id)}`)
      : el('span', { title: id }, keyWords(id, names))

const tokens = ({ tokens: used }: Running): string =>
  used === null ? '–' : `${count(used.input)} / ${count(used.output)}`

export const liveTable = (rows: readonly Running[], names: KeyNames, curl: string, empty: string): HTMLElement =>
  table<Running>({
    title: rows.length > mostRows ? `The newest ${mostRows} of ${rows.length} requests` : 'Requests',
    file: 'requests',
    rows: rows.slice(0, mostRows),
    curl,
    empty,
    columns: [
      {
        head: 'Began',
        value: ({ at }) => new Date(at).toISOString(),
        show: ({ id, at }) =>
          el(
            'a',
            { href: `#/live/${encodeURIComponent(id)}`, title: id },
            clockTime(at),
            el('small', { class: 'short' }, id.slice(-12)),
          ),
      },
      { head: 'Id', value: ({ id }) => id, hidden: true },
      {
        head: 'Status',
        value: ({ status }) => status,
        show: (request) => badge(standOf(request).kind, standOf(request).words),
      },
      {
        head: 'Model',
        value: ({ model }) => model,
        show: ({ model, route }) => [
          el('span', { class: 'name' }, model ?? '–'),
          el('small', { class: 'short' }, el('code', {}, route)),
        ],
      },
      { head: 'Backend', value: ({ backend }) => backend },
      { head: 'Attempts', value: attemptWords, number: true },
      figure('First token', (request) => request.first_token, timeOf),
      figure('Time', ({ ms }) => ms, timeOf),
      { head: 'Tokens in / out', value: tokens, number: true },
      { head: 'Key', value: ({ key }) => key, show: ({ key }) => keyLink(key, names) },
      { head: 'Team', value: (request) => teamOf(request, names) },
      { head: 'Route', value: ({ route }) => route, hidden: true },
      { head: 'Organisation', value: ({ organization }) => organization },
    ],
  })
