import { type DrillMark, type DrillRow, changeOf, sightWords } from './drill-run.ts'
import { el } from './element.ts'
import { badge } from './parts.ts'
import { timeOf } from './running.ts'
import { figure, table } from './table.ts'

const kinds: Readonly<Record<DrillMark, string>> = { pass: 'good', partial: 'mixed', safe: 'mixed', fail: 'bad' }

const markBadge = (mark: DrillMark | null, isPlaying: boolean): HTMLElement =>
  mark === null ? badge('idle', isPlaying ? 'plays' : 'not played') : badge(kinds[mark], mark)

const changes = { better: 'good', worse: 'bad', same: 'idle' } as const

const changeBadge = (row: DrillRow): HTMLElement | string => {
  const change = changeOf(row)
  if (change === null) return '–'
  return badge(changes[change], change === 'same' ? 'same' : `${change}, was ${row.before}`)
}

/** The scorecard, while it fills and afterwards. */
export const drillTable = (rows: readonly DrillRow[], curl: string, isPlaying = false): HTMLElement =>
  table<DrillRow>({
    title: 'Scorecard',
    file: 'drill',
    rows,
    curl,
    empty: 'No drill was played in this tab.',
    columns: [
      {
        head: 'Scene',
        value: ({ scene }) => scene,
        show: ({ scene, title }) => [scene, el('small', { class: 'scene' }, title)],
      },
      { head: 'Title', value: ({ title }) => title, hidden: true },
      {
        head: 'Mark',
        value: ({ result }) => result?.mark ?? null,
        show: ({ result }) => markBadge(result?.mark ?? null, isPlaying),
      },
      {
        head: 'What the caller saw',
        value: ({ result }) => result && sightWords(result),
        show: ({ result }) => result && el('span', { class: 'name wide' }, sightWords(result)),
      },
      figure('First token', ({ result }) => result?.caller.first_token ?? null, timeOf),
      { head: 'Status', value: ({ result }) => result?.caller.status ?? null, hidden: true },
      { head: 'Time in ms', value: ({ result }) => result?.caller.ms ?? null, hidden: true },
      { head: 'Backend calls', value: ({ result }) => result?.asked ?? null, number: true },
      { head: 'Before', value: ({ before }) => before, show: changeBadge },
      {
        head: 'Note',
        value: ({ result }) => result?.note ?? null,
        show: ({ result }) => result && el('span', { class: 'name wide' }, result.note),
      },
    ],
  })
