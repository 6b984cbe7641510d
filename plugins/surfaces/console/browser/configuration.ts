/** One setting, as far as an operator sees it. */
export interface ShownSetting {
  readonly origin: 'written' | 'default' | 'variable'
  readonly content: 'value' | 'empty' | 'hidden'
  readonly value: string | number | boolean | null
  readonly variable: string | null
  readonly set: boolean | null
}

export interface PlacedSetting extends ShownSetting {
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
export const pathWords = (path: readonly string[]): string =>
  path.map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))).join('.')

export const valueWords = ({ content, value, variable }: ShownSetting): string =>
  variable === null ? (content === 'value' ? String(value) : content) : `$${variable}`

export const originWords = ({ origin, set }: ShownSetting): string =>
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
