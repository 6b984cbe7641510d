import { exact, isContainer } from '../shared/content-cutter.ts'
import type { Column } from '../../../core/ports/file-content.ts'

/** Collects the values of one column and derives the column's type. */
export interface Survey {
  see(value: unknown): void
  column(name: string, rows: number): Column
  /** True when a value was a list or an object. */
  nested(): boolean
}

/** In characters: longer names of columns are cut. */
const mostName = 200

export const survey = (): Survey => {
  const types = new Set<string>()
  let seen = 0
  let min: number | bigint | null = null
  let max: number | bigint | null = null
  return {
    see: (value) => {
      if (value === null || value === undefined) return
      seen += 1
      const type = typeOf(value)
      types.add(type)
      if (type !== 'integer' && type !== 'number') return
      const number = typeof value !== 'string' ? (value as number | bigint) : type === 'integer' ? BigInt(value) : NaN
      if (Number.isNaN(number)) return
      if (min === null || number < min) min = number
      if (max === null || number > max) max = number
    },
    column: (name, rows) => ({
      name: name.length > mostName ? `${name.slice(0, mostName)}…` : name,
      type: together(types),
      nulls: rows - seen,
      ...(min !== null && max !== null && { min: shown(min), max: shown(max) }),
    }),
    nested: () => types.has('list') || types.has('object'),
  }
}

/** The type of a value, or the type that its text looks like. */
export const typeOf = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  if (Array.isArray(value)) return 'list'
  if (isContainer(value)) return 'object'
  if (value instanceof Uint8Array) return 'bytes'
  if (typeof value !== 'string') return 'date'
  if (/^-?[1-9]\d{15,39}$/.test(value)) return 'integer'
  if (/^(NaN|-?Infinity)$/.test(value)) return 'number'
  return date.test(value) ? 'date' : 'text'
}

const date = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/

/** Integers and numbers together are numbers; any other two types are mixed. */
const together = (types: ReadonlySet<string>): string => {
  if (types.size === 0) return 'empty'
  if (types.size === 1) return [...types][0]!
  return [...types].every((type) => type === 'integer' || type === 'number') ? 'number' : 'mixed'
}

const shown = (number: number | bigint): number | string => {
  if (typeof number === 'bigint') return exact(number)
  return Number.isFinite(number) ? number : String(number)
}
