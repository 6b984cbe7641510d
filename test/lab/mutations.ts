import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Changes, Mutation } from './mutations/mutation.ts'

export type { Mutation } from './mutations/mutation.ts'

/** One table for each room of the code. */
const tables = 'test/lab/mutations/tables'

const rowsOf = (table: string): readonly Changes[] =>
  JSON.parse(readFileSync(join(tables, table), 'utf8')) as readonly Changes[]

/** Every mutation, room by room. */
export const mutations: readonly Mutation[] = readdirSync(tables)
  .toSorted()
  .flatMap(rowsOf)
  .flatMap(({ file, test, changes }) => changes.map((change) => ({ file, test, ...change })))
