import type { Query } from '../../../core/ports/metadata-store.ts'

/** The text of a search, and the fields that may have it. */
export interface Search {
  readonly text: string
  readonly fields: readonly string[]
}

/** The search of a query; null without one. */
export const searchOf = <T>({ contains }: Query<T>): Search | null => contains ?? null

/** Whether a row has the text in any case. SQLite knows only the case of ASCII letters, so the rows are searched here. */
export const fitting = ({ text, fields }: Search): ((row: object) => boolean) => {
  const wanted = text.toLowerCase()
  return (row) =>
    fields.some((name) => {
      const value = (row as Readonly<Record<string, unknown>>)[name]
      return typeof value === 'string' && value.toLowerCase().includes(wanted)
    })
}
