import t from 'tap'
import { parsed } from '../../../core/dialects/json.ts'
import { JsonScan, usualBounds } from '../../../core/dialects/json-scan.ts'
import { keepTexts, keptText, memberTexts } from '../../../core/dialects/json-text.ts'
import { printJson } from '../../../plugins/shared/print-json.ts'
import { type Relayed, readJson } from '../../../core/dialects/read-json.ts'
import { BadRequest } from '../../../core/errors.ts'
import { chance, type Chance } from '../../lab/bench/retrieval/chance.ts'

const relayed = (text: string) => readJson(Buffer.from(text), 'relayed') as Relayed

const texts = (text: string, value: unknown, made: number) => {
  const scan = new JsonScan(Buffer.from(text), usualBounds)
  scan.read(text.length)
  return memberTexts(scan, value, made)
}

/** What a backend is asked for this body, when its model is renamed on the way. */
const sent = async (text: string): Promise<string> => {
  const { value, members } = relayed(text)
  const body = { ...(value as object) }
  keepTexts(body, members)
  return Buffer.from(await printJson({ ...body, model: 'theirs' })).toString()
}

t.test('members go on as they came, around the one that is changed', async (t) => {
  const messages = '[ {"role" : "user","content":"\\u0041\\/ é"},\n {"n": [1.0, 1e2, 12345678901234567890, -0]} ]'
  t.equal(
    await sent(` { "model":"ours" , "messages":\t${messages} ,"a\\u0062" : {"x":{ }},"stream":false}`),
    `{"model":"theirs","messages":${messages},"ab":{"x":{ }},"stream":false}`,
  )
})

t.test('a changed copy has no text', async (t) => {
  const { value, members } = relayed('{"list":[1 ]}')
  keepTexts(value, members)
  const { list } = value as { list: readonly number[] }
  t.equal(keptText(list), '[1 ]')
  t.equal(keptText([...list]), undefined)
  t.equal(keptText('text'), undefined)
})

t.test('a name that stands twice is refused, however it is written', async (t) => {
  for (const text of ['{"model":1,"model":2}', '{"model":1,"m\\u006fdel":{}}', '{"":[],"":[]}']) {
    t.throws(() => relayed(text), { constructor: BadRequest, message: 'A key stands twice in one JSON object' }, text)
  }
  t.throws(() => relayed('{"model":1,"model":2}'), /A key stands twice/)
  t.equal(texts('{"a":1,"a":2}', { a: 2 }, 1), null, 'nobody is told, and nothing goes on as it came')
})

t.test('an object within that names a member twice is printed as it was checked', async (t) => {
  const text = '{"messages":[{"role":"system","role":"user"}],"tools":[ ]}'
  t.equal(relayed(text).members, null)
  t.equal(await sent(text), '{"messages":[{"role":"user"}],"tools":[],"model":"theirs"}')
})

t.test('names of JavaScript are names like others', async (t) => {
  const text = '{"__proto__":{"a":[1 ]},"constructor":[2 ],"toString":{ }}'
  const { value, members } = relayed(text)
  keepTexts(value, members)
  t.equal(keptText((value as Record<string, unknown>)['constructor']), '[2 ]')
  t.equal(keptText(Object.prototype), undefined)
  t.equal(({} as Record<string, unknown>)['a'], undefined)
})

t.test('what is no object has no members', async (t) => {
  for (const text of ['[{"a":1,"a":2}]', '"a"', '1', 'null', ' true ']) {
    t.equal(texts(text, JSON.parse(text), 0), null)
    t.equal(relayed(text).members, null)
  }
  t.same(texts(' { } ', {}, 0), new Map())
})

/** JSON as no printer writes it: spaces, escapes, numbers in many forms, now and then a name twice. */
const wild = (any: Chance): string => {
  const space = () => any.pick(['', '', '', ' ', '\n', '\t  '])
  const letter = () =>
    any.pick(['a', 'b', '\\u0061', '\\"', '\\\\', '{', '}', '[', ']', ':', ',', 'é', '😀', '\\ud83d'])
  const text = () => `"${Array.from({ length: any.below(4) }, letter).join('')}"`
  const number = () => any.pick(['0', '-0', '1.0', '1e2', '1E-2', '0.10', '9007199254740993'])
  const value = (depth: number): string => {
    const kind = any.below(depth > 0 ? 6 : 4)
    if (kind < 2) return text()
    if (kind === 2) return number()
    if (kind === 3) return any.pick(['null', 'true', 'false', '[]', '{ }'])
    const items = Array.from({ length: any.below(4) }, () =>
      kind === 4 ? value(depth - 1) : `${text()}${space()}:${space()}${value(depth - 1)}`,
    )
    const inner = items.map((item) => space() + item + space()).join()
    return kind === 4 ? `[${inner}]` : `{${inner}}`
  }
  const members = Array.from({ length: any.below(6) }, () => `${space()}${text()}${space()}:${space()}${value(3)}`)
  return `${space()}{${members.join()}}${space()}`
}

t.test('of 10,000 bodies each is run as it was checked, or refused', async (t) => {
  const any = chance(20261122)
  const seen = { refused: 0, anew: 0, asCame: 0 }
  for (let body = 0; body < 10_000; body++) {
    const text = wild(any)
    let read: Relayed
    try {
      read = relayed(text)
    } catch {
      seen.refused++
      continue
    }
    const checked = structuredClone(read.value) as object
    seen[read.members === null ? 'anew' : 'asCame']++
    const out = await sent(text)
    if (JSON.stringify(parsed(out)) !== JSON.stringify({ ...checked, model: 'theirs' })) t.fail(`${text} became ${out}`)
    for (const [name, textOf] of read.members ?? []) {
      const words = textOf()
      const member = (checked as Record<string, unknown>)[name]
      if (typeof member !== 'object' || member === null || name === 'model') continue
      if (!out.includes(`${JSON.stringify(name)}:${words}`)) t.fail(`${text} lost the text of ${name}`)
    }
  }
  t.ok(seen.refused > 500 && seen.anew > 100 && seen.asCame > 3000, JSON.stringify(seen))
})
