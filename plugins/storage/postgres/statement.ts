import type { Kind, Query } from '../../../core/ports/metadata-store.ts'
import { storedName } from '../shared/stored-name.ts'
import { encodeJson, encodeText, maxKeyCharacters, sortKey } from './encoding.ts'

/** What a placeholder stands for. */
export type Value = string | number | null

/** A statement in the making. */
export interface Statement {
  /** The values so far, for the placeholders of the text. */
  readonly values: readonly Value[]
  /** The placeholder of a value. */
  value(value: Value): string
  /** The sort key of a field. */
  field(name: string): string
  /** Conditions, each with an `and` before it. */
  where(fields?: object): string
  /** `from … where …` for all rows of a query. `folding` is the collation that knows the case of all letters. */
  from<T>(kind: Kind<T>, query: Query<T>, folding: string): string
}

/** Builds the SQL of one statement and collects its values. */
export const statement = (schema: string, ...first: readonly Value[]): Statement => {
  const values: Value[] = [...first]
  const value = (value: Value) => `$${values.push(value)}`
  const field = (name: string) => `${schema}.key(data, '${storedName(name)}') collate "C"`

  /** Null and absent fields are equal. A text that its sort key cuts is compared once more as a whole. */
  const equals = ([name, wanted]: readonly [string, unknown]): string => {
    if (wanted === null || wanted === undefined) return `${field(name)} is null`
    const isCut =
      typeof wanted === 'object' || (typeof wanted === 'string' && encodeText(wanted).length >= maxKeyCharacters)
    const whole = isCut ? ` and (data -> '${name}')::text = ${value(encodeJson(wanted))}` : ''
    return `${field(name)} = ${value(sortKey(wanted))}${whole}`
  }
  const where = (fields: object = {}) => Object.entries(fields).reduce((sql, pair) => `${sql} and ${equals(pair)}`, '')

  const mentions = (fields: readonly string[], text: string, folding: string): string => {
    const placeholder = value(encodeText(text.toLowerCase()))
    const has = (name: string) =>
      `json_typeof(data -> '${storedName(name)}') = 'string' and strpos(lower((data ->> '${name}')${folding}), ${placeholder}) > 0`
    return ` and (${fields.map(has).join(' or ') || 'false'})`
  }

  return {
    values,
    value,
    field,
    where,
    // The text contains the kind's name, since PostgreSQL uses a partial index only for a constant.
    from: (kind, { where: fields, between, contains, prefix, after }, folding) => {
      const parts = [where(fields)]
      if (between?.from !== undefined) parts.push(` and ${field(between.field)} >= ${value(sortKey(between.from))}`)
      if (between?.to !== undefined) parts.push(` and ${field(between.field)} <= ${value(sortKey(between.to))}`)
      if (prefix) {
        const [low, high] = [value(encodeText(prefix)), value(`${encodeText(prefix)}\u{10ffff}`)]
        parts.push(` and id >= ${low} and id < ${high}`)
      }
      if (after !== undefined) parts.push(` and id > ${value(encodeText(after))}`)
      if (contains) parts.push(mentions(contains.fields, contains.text, folding))
      return `from ${schema}.rows where kind = '${storedName(kind.name)}'${parts.join('')}`
    },
  }
}
