import {
  type ConfigurationChange,
  type PlacedSetting,
  type ShownSetting,
  originWords,
  pathWords,
  valueWords,
} from './configuration.ts'
import { el } from './element.ts'
import { count, counted } from './format.ts'
import { badge } from './parts.ts'
import { table } from './table.ts'

/** Rows that a table shows at once; its CSV has all. */
const mostRows = 500

const shown = (words: string): HTMLElement => el('code', { class: 'name wide' }, words)

const kinds: Readonly<Record<string, string>> = { written: 'good', variable: 'accent' }

const sideWords = (side: ShownSetting | null): string => (side === null ? '–' : valueWords(side))

export const settingsTable = (rows: readonly PlacedSetting[], curl: string): HTMLElement =>
  table<PlacedSetting>({
    title:
      rows.length > mostRows
        ? `The first ${count(mostRows)} of ${count(rows.length)} settings`
        : counted(rows.length, 'setting'),
    file: 'configuration',
    rows: rows.slice(0, mostRows),
    curl,
    empty: 'No setting has these words.',
    columns: [
      { head: 'Setting', value: ({ path }) => pathWords(path), show: ({ path }) => shown(pathWords(path)) },
      { head: 'Value', value: valueWords, show: (setting) => shown(valueWords(setting)) },
      {
        head: 'From',
        value: originWords,
        show: (setting) => badge(kinds[setting.origin] ?? 'idle', originWords(setting)),
      },
    ],
  })

export const changesTable = (
  rows: readonly ConfigurationChange[],
  curl: string,
  title = 'What the file has differently',
): HTMLElement =>
  table<ConfigurationChange>({
    title,
    file: 'configuration-changes',
    rows,
    curl,
    empty: 'Nothing: the file is what is in effect.',
    columns: [
      { head: 'Setting', value: ({ path }) => pathWords(path), show: ({ path }) => shown(pathWords(path)) },
      { head: 'The file', value: ({ change }) => change, show: ({ change }) => `${change} it` },
      { head: 'In effect', value: ({ before }) => sideWords(before), show: ({ before }) => shown(sideWords(before)) },
      { head: 'In the file', value: ({ after }) => sideWords(after), show: ({ after }) => shown(sideWords(after)) },
      {
        head: 'Takes',
        value: ({ restart }) => (restart ? 'a restart' : 'a reload'),
        show: ({ restart }) => badge(restart ? 'mixed' : 'good', restart ? 'a restart' : 'a reload'),
      },
    ],
  })
