import t, { type Test } from 'tap'
import { print } from '../../../core/dialects/json.ts'
import { type JsonBounds, usualBounds } from '../../../core/dialects/json-scan.ts'
import { type Relayed, readJson } from '../../../core/dialects/read-json.ts'
import { BadRequest } from '../../../core/errors.ts'
import type { Pace } from '../../../core/dialects/loop-time.ts'
import { type Chance, chance } from '../../lab/bench/retrieval/chance.ts'

const read = async (text: string, form: Parameters<typeof readJson>[1] = 'plain', bounds?: JsonBounds) =>
  readJson(Buffer.from(text), form, bounds)

const long = 'x'.repeat(20_000)
const runs = (one: string, count: number) => Array(count).fill(one).join()

/** Long texts of every kind: runs of short neighbours, long strings with and without escapes, and containers of both. */
const wild = (any: Chance): string => {
  const space = () => any.pick(['', '', ' ', '\n\t'])
  const escaped = () => any.pick(['\\"', '\\\\', '\\u0041', '\\ud83d\\ude00', '\\n', 'é', '😀', 'abc', '{', ']', ','])
  const text = (length: number) => `"${Array.from({ length }, escaped).join('')}"`
  const scalar = () => any.pick(['1', '-0.5e3', 'true', 'null', '""', '{}', '[ ]', text(3)])
  const value = (depth: number): string => {
    const kind = any.below(depth > 0 ? 6 : 3)
    if (kind === 0) return text(any.pick([2, 12_000, 60_000]))
    if (kind < 3) return scalar()
    if (kind === 3) return `[${runs(scalar(), 1 + any.below(9_000))}]`
    const items = Array.from({ length: 1 + any.below(5) }, () => value(depth - 1))
    if (kind === 4) return `[${items.map((item) => space() + item + space()).join()}]`
    const names = items.map((_, at) => any.pick([`k${at}`, `\\u0061${at}`, `${at}`, '__proto__', 'k0']))
    return `{${items.map((item, at) => `${space()}"${names[at]}"${space()}:${space()}${item}`).join()}}`
  }
  return `${space()}${value(4)}${space()}`
}

t.test('long texts are read as JSON.parse reads them, whole and damaged', async (t) => {
  const any = chance(20261125)
  const seen = { read: 0, refused: 0 }
  for (let at = 0; at < 150; at++) {
    let text = wild(any)
    if (any.below(3) > 0) {
      const cut = any.below(text.length + 1)
      // A cut through a pair of surrogates gives what UTF-8 makes of the half.
      text = Buffer.from(
        text.slice(0, cut) + any.pick(['', ',', '"', ']', '}', ':', ' ', '\\', '\n']) + text.slice(cut + any.below(2)),
      ).toString()
    }
    let expected: unknown
    let fault = false
    try {
      expected = JSON.parse(text)
    } catch {
      fault = true
    }
    const got = await read(text).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    if ('error' in got !== fault) t.fail(`${fault ? 'not refused' : 'refused'}: ${text.slice(0, 200)}`)
    if ('error' in got) {
      if (!(got.error instanceof BadRequest)) throw got.error
      seen.refused++
    } else {
      if (JSON.stringify(got.value) !== JSON.stringify(expected)) t.fail(`another value: ${text.slice(0, 200)}`)
      seen.read++
    }
  }
  t.ok(seen.read > 40 && seen.refused > 40, JSON.stringify(seen))
})

t.test('a long key is none of the values, and neighbours of long values have their commas', async (t) => {
  const good = [`{"${long}":1,"b":2}`, `{"a":0,"${long}":{"${long}":"${long}"},"b":[1]}`]
  for (const text of good) t.same(await read(text.padEnd(200_000)), JSON.parse(text))
  const bad = [`["${long}" 11,2]`, `["${long}","${long}" 0.5]`, `{"a":"${long}" x"b":1}`, `[["${long}"]011]`]
  for (const text of bad) await t.rejects(read(text.padEnd(200_000)), BadRequest, text.slice(-20))
})

t.test('an ordered text keeps its order, and names a key that stands twice', async (t) => {
  const text = `{"9":1,"2":"${long}","__proto__":[1],"1":{"b":"${long}","a":2}}`
  const value = await read(text.padEnd(200_000), 'ordered')
  t.equal(print(value), text)
  const twice = { message: 'A key stands twice in one JSON object' }
  await t.rejects(read(`{"a":"${long}","b":1,"a":2}`.padEnd(200_000), 'ordered'), twice)
  await t.rejects(read(`{"a":1,"a":"${long}"}`.padEnd(200_000), 'ordered'), twice)
})

t.test('a long text that is relayed keeps the text of its members', async (t) => {
  const list = `[ ${runs('{"role" : "user"}', 5_000)} ]`
  const { value, members } = (await read(`{"messages":${list},"n" :1.0}`.padEnd(200_000), 'relayed')) as Relayed
  t.equal(members?.get('messages')?.(), list)
  t.same(Object.keys(value as object), ['messages', 'n'])
  const within = (await read(`{"a":[{"b":1,"b":2},"${long}"]}`.padEnd(200_000), 'relayed')) as Relayed
  t.equal(within.members, null, 'a name that stands twice within is printed anew')
  await t.rejects(read(`{"a":1,"a":"${long}"}`.padEnd(200_000), 'relayed'), { message: /A key stands twice/ })
})

const refused = (t: Test, text: string, message: string, bounds: JsonBounds = usualBounds) =>
  t.rejects(read(text, 'plain', bounds), { constructor: BadRequest, message })

const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":0`).join()

t.test('objects have a bound of members, and the outermost one a narrower', async (t) => {
  const wide = 'A JSON object has too many members'
  t.same(Object.keys((await read(`{${keys(256)}}`)) as object).length, 256)
  await refused(t, `{${keys(257)}}`, wide)
  t.ok(await read(`{"a":{${keys(4_096)}}}`))
  await refused(t, `{"a":{${keys(4_097)}}}`, wide)
  t.ok(await read(`[${runs('{"a":1}', 5_000)}]`), 'of many objects each has its own count')
  await refused(t, `{"a":{${keys(4)}}}`, wide, { ...usualBounds, members: 3 })
})

t.test('one turn of the loop does little, and what is done is booked', async (t) => {
  let booked = 0
  let turns = 0
  const pace: Pace = {
    spend(ns) {
      booked += ns
      turns++
      return null
    },
  }
  const text = Buffer.from(`{"a":[${runs(`{${keys(40)}}`, 2_400)}]}`)
  await readJson(text, 'plain', usualBounds, pace)
  t.ok(turns > text.length / 3_600, `${turns} turns for ${text.length} bytes`)
  t.ok(booked > 60 * text.length && booked < 300 * text.length, `${booked} ns`)
  booked = turns = 0
  await readJson(Buffer.from(`{"a":"${'é'.repeat(2_000_000)}"}`), 'plain', usualBounds, pace)
  t.ok(turns > 60 && booked < 40_000_000, `a text of 4 MB: ${turns} turns, ${booked} ns`)
  booked = turns = 0
  readJson(Buffer.from('{"a":1}'), 'plain', usualBounds, pace)
  t.ok(turns === 1 && booked > 0, 'a short body costs little, not nothing')
})

/** A pace whose every piece of work waits, as that of a holder beyond its allowance does. */
const slowPace = () => {
  const spent: number[] = []
  const pace: Pace = {
    spend(ns) {
      spent.push(ns)
      return Promise.resolve()
    },
  }
  return { pace, spent }
}

t.test('a short text of dear elements is looked over in turns of the loop', async (t) => {
  const { pace, spent } = slowPace()
  const text = Buffer.from(`[${runs('{}', 30_000)}]`)
  t.equal(((await readJson(text, 'plain', usualBounds, pace)) as unknown[]).length, 30_000)
  t.ok(spent.indexOf(Math.max(...spent)) >= 4, `${spent.indexOf(Math.max(...spent))} turns before its cost is known`)
})

t.test('a holder beyond its allowance has a short text read in turns of the loop, too', async (t) => {
  const { pace, spent } = slowPace()
  const text = Buffer.from(`{"a":[${runs(`{${keys(40)}}`, 25)}]}`)
  for (const form of ['plain', 'ordered', 'relayed'] as const) {
    spent.length = 0
    const value = await readJson(text, form, usualBounds, pace)
    t.ok(spent.length >= 3, `${form}: ${spent.length} turns for ${text.length} bytes`)
    if (form !== 'ordered') t.same(form === 'plain' ? value : (value as Relayed).value, JSON.parse(text.toString()))
  }
})
