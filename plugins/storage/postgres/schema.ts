import { createHash } from 'node:crypto'
import type { Kind } from '../../../core/ports/metadata-store.ts'
import { storedName } from '../shared/stored-name.ts'
import { maxKeyCharacters } from './encoding.ts'
import { statement } from './statement.ts'

/**
 * A row keeps its JSON text unchanged. The function `key` turns a field into text with the order of the values: null,
 * numbers, text. One index then serves all types. Steps are only added and their functions never change, so replicas of
 * an older version keep running.
 */
export const schemaSteps = (schema: string): readonly string[] => [
  `create table ${schema}.rows (
    kind text collate "C" not null, id text collate "C" not null, data json not null, primary key (kind, id)
  );
  create function ${schema}.key(data json, field text) returns text language sql immutable parallel safe as $$
    select case json_typeof(data -> field)
      when 'null' then null
      when 'string' then 's' || left(data ->> field, ${maxKeyCharacters})
      when 'number' then case
        when (data ->> field)::float8 < 0 then 'n0' ||
          translate(encode(float8send((data ->> field)::float8), 'hex'), '0123456789abcdef', 'fedcba9876543210')
        else 'n1' || encode(float8send((data ->> field)::float8), 'hex') end
      else 'j' || left((data -> field)::text, ${maxKeyCharacters}) end
  $$;
  create function ${schema}.merge(data json, change json) returns json language sql stable as $$
    select coalesce(json_object_agg(key, value order by place), '{}') from (
      select coalesce(o.key, n.key) as key, case when n.key is null then o.value else n.value end as value,
        coalesce(o.place, n.place + 1000000) as place
      from json_each(data) with ordinality as o(key, value, place)
      full join json_each(change) with ordinality as n(key, value, place) on o.key = n.key
    ) as fields
  $$;
  create function ${schema}.sum(data json, deltas json) returns json language sql stable as $$
    select ${schema}.merge(data, json_object_agg(key, value::text::float8 +
      case json_typeof(data -> key) when 'number' then (data ->> key)::float8 else 0 end order by place))
    from json_each(deltas) with ordinality as d(key, value, place)
  $$`,
]

/** A partial index over one kind. A query uses the index only with the kind's name in its text. */
export interface Index {
  /** The name with its schema, quoted. */
  readonly name: string
  /** The statement after `create index`. */
  readonly definition: string
}

/** The indexes that a kind declares. */
export const indexesOf = <T>(schema: string, { name, indexes }: Kind<T>): readonly Index[] =>
  indexes.map((fields) => {
    const full = `${storedName(name)}:${fields.map(storedName).join()}`
    // PostgreSQL cuts names from 64 characters on, and two cut names may be equal.
    const id =
      full.length < 64 ? full : `${full.slice(0, 46)}:${createHash('sha256').update(full).digest('hex').slice(0, 16)}`
    const { field } = statement(schema)
    const parts = fields.map((name) => `(${field(name)}) nulls first`).join(', ')
    return { name: `${schema}."${id}"`, definition: `"${id}" on ${schema}.rows (${parts}, id) where kind = '${name}'` }
  })
