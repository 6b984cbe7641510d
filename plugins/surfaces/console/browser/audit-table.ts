import type { Act } from './answers.ts'
import type { Child } from './element.ts'
import { moment } from './format.ts'
import { type Gateway, curlOf, pathOf } from './gateway.ts'
import { badge, link } from './parts.ts'
import { type Table, table } from './table.ts'

const outcomes: Readonly<Record<string, string>> = { done: 'good', refused: 'mixed', failed: 'bad' }

const keyLink = (id: string | null): Child =>
  id === null ? '–' : id.startsWith('key_') ? link(id, `#/keys/${encodeURIComponent(id)}`, 'id') : id

/** Administrative acts, newest first. */
export const auditRows = (title: string, rows: readonly Act[], curl: string): Table<Act> => ({
  title,
  file: 'audit',
  rows,
  curl,
  empty: 'Nothing was done yet.',
  columns: [
    { head: 'When', value: ({ at }) => new Date(at).toISOString(), show: ({ at }) => moment(at) },
    { head: 'Act', value: ({ action }) => action },
    {
      head: 'Outcome',
      value: ({ outcome }) => outcome,
      show: (act) => badge(outcomes[act.outcome] ?? 'idle', act.outcome),
    },
    { head: 'By', value: ({ actor }) => actor, show: ({ actor }) => keyLink(actor) },
    { head: 'User', value: ({ user }) => user },
    { head: 'Of', value: ({ object }) => object, show: ({ object }) => keyLink(object) },
  ],
})

/** The acts on one thing among the newest acts of all. */
export const auditOf = ({ base }: Gateway, what: string, acts: readonly Act[]): HTMLElement =>
  table(
    auditRows(
      `Audit of this ${what}, among the newest 500 acts`,
      acts,
      curlOf(base, pathOf('/admin/audit', { limit: 100 })),
    ),
  )
