import t from 'tap'
import { membersIn } from '../../../core/dialects/json.ts'
import { JsonScan, usualBounds } from '../../../core/dialects/json-scan.ts'
import { BadRequest } from '../../../core/errors.ts'
import { longTexts, noTexts, printAround, readAround } from '../../../plugins/shared/long-texts.ts'
import { type Chance, chance } from '../../lab/bench/retrieval/chance.ts'

const scanned = (json: string): JsonScan => {
  const bytes = Buffer.from(json)
  const scan = new JsonScan(bytes, usualBounds)
  scan.read(bytes.length)
  return scan
}

const long = 'x'.repeat(600)

/** Values of every kind: texts around the bound with escapes of every kind, and keys that look like indexes or are long. */
const wild = (any: Chance, depth = 4): string => {
  const space = () => any.pick(['', '', ' ', '\n\t'])
  const letter = () =>
    any.pick(['\\"', '\\\\', '\\u0041', '\\ud83d\\ude00', '\\ud800', '\\n', 'é', '😀', 'abc', '{', ','])
  const text = (length: number) => `"${Array.from({ length }, letter).join('')}"`
  const kind = any.below(depth > 0 ? 6 : 3)
  if (kind === 0) return text(any.pick([2, 100, 300, 900]))
  if (kind === 1) return `"${any.pick(['', 'y'.repeat(509), 'y'.repeat(510), long])}"`
  if (kind === 2) return any.pick(['1', '-0.5e3', 'true', 'null', '""', '{}', '[ ]'])
  const items = Array.from({ length: 1 + any.below(4) }, () => `${space()}${wild(any, depth - 1)}${space()}`)
  if (kind === 3) return `[${items.join()}]`
  const names = items.map((_, at) => any.pick([`k${at}`, `${9 - at}`, '__proto__', `${long}${at}`, 'k0']))
  return `{${items.map((item, at) => `${space()}"${names[at]}"${space()}:${item}`).join()}}`
}

t.test('a text is read as JSON.parse reads it, and printed as JSON.stringify prints it', async (t) => {
  const any = chance(7)
  let longer = 0
  for (let round = 0; round < 2_000; round++) {
    const json = wild(any)
    const read = readAround(scanned(json))
    if (read.found.length > 0) longer++
    const value: unknown = JSON.parse(json)
    if (JSON.stringify(read.value) !== JSON.stringify(value)) t.fail(json)
    const printed = printAround(read.value, longTexts(read)).toString()
    if (JSON.stringify(JSON.parse(printed)) !== JSON.stringify(value)) t.fail(printed)
    if (membersIn(read.value) !== membersIn(value)) t.fail(json)
  }
  t.ok(longer > 500, `${longer} with long texts`)
})

t.test('a long text goes on as it was written, wherever the gateway puts it', async (t) => {
  const written = `"\\u0041\\/${long}"`
  const read = readAround(scanned(`{"a":${written},"b":"\\u0042"}`))
  const { a, b } = read.value as { readonly a: string; readonly b: string }
  t.equal(a, `A/${long}`)
  const texts = longTexts(read)
  t.equal(
    printAround({ x: [{ y: a }, b], z: undefined, e: [], o: {} }, texts).toString(),
    `{"x":[{"y":${written}},"B"],"e":[],"o":{}}`,
  )
  t.equal(
    printAround({ x: `${a}!` }, texts).toString(),
    JSON.stringify({ x: `${a}!` }),
    'a changed text is printed anew',
  )
  t.equal(printAround([undefined, a], noTexts).toString(), JSON.stringify([null, a]))
  const deep = [[[[[[[a]]]]]]]
  t.same(JSON.parse(printAround(deep, texts).toString()), deep)
})

t.test('what JSON.parse refuses is refused', async (t) => {
  for (const json of [
    ...[`{"a":"${long}\n"}`, `{"a":"${long}\u0000"}`, `{"a":"${long}\\x"}`, `{"a":"${long}\\u12"}`],
    ...[`{"a" "${long}"}`, `["${long}" "${long}"]`, `{"${long}"}`, `{"a":"${long}",}`, `"${long}"]`],
  ])
    t.throws(() => readAround(scanned(json)), BadRequest, json.slice(-20))
})
