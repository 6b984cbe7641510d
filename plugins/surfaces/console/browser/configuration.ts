import { el } from './element.ts'
import { count, counted } from './format.ts'
import { badge } from './parts.ts'
import { table } from './table.ts'

/** One setting, as far as an operator sees it. */
interface ShownSetting {
  readonly origin: 'written' | 'default' | 'variable'
  readonly content: 'value' | 'empty' | 'hidden'
  readonly value: string | number | boolean | null
  readonly variable: string | null
  readonly set: boolean | null
}

interface PlacedSetting extends ShownSetting {
  readonly path: readonly string[]
}

export interface ConfigurationChange {
  readonly path: readonly string[]
  readonly change: 'added' | 'removed' | 'changed'
  readonly before: ShownSetting | null
  readonly after: ShownSetting | null
  readonly restart: boolean
}

/** What `GET /admin/configuration` tells. */
export interface EffectiveConfiguration {
  readonly file: string | null
  /** Unix time in ms. */
  readonly read_at: number
  readonly settings: readonly PlacedSetting[]
  readonly settings_left_out: number
  readonly faults: readonly string[]
  /** Null where the file has a fault. */
  readonly changes: readonly ConfigurationChange[] | null
  readonly changes_left_out: number
}

/** The keys with dots between them; a key that could be taken for several stands in quotes. */
const pathWords = (path: readonly string[]): string =>
  path.map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))).join('.')

const valueWords = ({ content, value, variable }: ShownSetting): string =>
  variable === null ? (content === 'value' ? String(value) : content) : `$${variable}`

const originWords = ({ origin, set }: ShownSetting): string =>
  origin === 'written' ? 'file' : origin === 'default' ? origin : set ? 'variable, set' : 'variable, not set'

/** The settings in whose place or value the words stand. Defaults are left out unless they are asked for. */
export const foundSettings = (
  settings: readonly PlacedSetting[],
  words: string,
  withDefaults: boolean,
): readonly PlacedSetting[] => {
  const wanted = words.trim().toLowerCase()
  return settings.filter(
    (setting) =>
      (withDefaults || setting.origin !== 'default') &&
      `${pathWords(setting.path)} ${valueWords(setting)}`.toLowerCase().includes(wanted),
  )
}

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
