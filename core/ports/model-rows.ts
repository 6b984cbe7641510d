import * as v from 'valibot'
import type { Section } from './section.ts'
import { ModelSettings, type Settings } from '../settings.ts'

/** How a section knows its rows among the models. */
type Row = NonNullable<Section['row']>

const rowsIn = (sections: readonly Section[]): readonly Row[] => sections.flatMap(({ row }) => row ?? [])

const has = (value: unknown, member: string): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, member)

/** The shape of the models by their names. A row that has the member of a section is one of that section. */
export const modelsWith = (sections: readonly Section[]): v.GenericSchema => {
  const rows = rowsIn(sections)
  const either = v.union([ModelSettings, ...rows.map(({ shape }) => shape)])
  const chosen: v.GenericSchema = {
    ...either,
    '~run': (dataset, config) =>
      (rows.find(({ member }) => has(dataset.value, member))?.shape ?? ModelSettings)['~run'](dataset, config),
  }
  return v.optional(v.record(v.string(), chosen), {})
}

/** Checked settings whose models are models alone; each section has its own rows. */
export const sorted = (settings: Settings, sections: readonly Section[]): Settings => {
  const all = Object.entries(settings.models)
  const named = sections.flatMap(({ name, row }) => (row === undefined ? [] : [{ name, member: row.member }]))
  if (named.length === 0) return settings
  const isRow = ([, model]: (typeof all)[number]) => named.some(({ member }) => has(model, member))
  const own = named.map(
    ({ name, member }) => [name, Object.fromEntries(all.filter(([, row]) => has(row, member)))] as const,
  )
  return { ...settings, ...Object.fromEntries(own), models: Object.fromEntries(all.filter((row) => !isRow(row))) }
}
