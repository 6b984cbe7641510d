import { readFile } from 'node:fs/promises'
import t from 'tap'
import { deepestNesting } from '../core/dialects/json-scan.ts'
import { configurationRows } from './docs/configuration.ts'

interface Bound {
  readonly name: string
  /** As a whole number; null where the row names none. */
  readonly value: number | null
  readonly costs: readonly string[]
}

/** The rows of the table of bounds in docs/security.md. */
const bounds = async (): Promise<readonly Bound[]> => {
  const page = await readFile('docs/security.md', 'utf8')
  const [, table = ''] = page.split('| bound | just under it | time at most | memory at most |\n')
  const rows = table.split('\n\n')[0]!.split('\n').slice(1)
  return rows.map((row) => {
    const [bound = '', , ...costs] = row.slice(2, -2).split(' | ')
    const [, name = bound, value] = /^`([^`]+)` \(([\d,]+)\)$/.exec(bound) ?? []
    return { name, value: value === undefined ? null : Number(value.replaceAll(',', '')), costs }
  })
}

t.test('each bound of the page on security is the default of its setting', async (t) => {
  const defaults = new Map(configurationRows().map(({ path, byDefault }) => [path, byDefault]))
  const told = await bounds()
  t.ok(told.length >= 15, `${told.length} bounds`)
  const named = told.filter(({ value }) => value !== null)
  for (const { name, value } of named) t.equal(defaults.get(name), `\`${value}\``, name)
  const settings = [...defaults]
    .filter(([path, byDefault]) => /^(?:bodies|connections)\./.test(path) && /^`\d+`$/.test(byDefault))
    .map(([path]) => path)
  t.same(named.map(({ name }) => name).sort(), settings.sort())
  t.ok(told.some(({ name }) => name === `nesting (${deepestNesting})`))
})

t.test('each bound of the page on security has its cost in time and memory', async (t) => {
  for (const { name, costs } of await bounds()) {
    t.equal(costs.length, 2, name)
    for (const cost of costs) t.match(cost, /\d+ (?:ms|s|MiB)|^none|bytes|that of the bod/, name)
  }
})
