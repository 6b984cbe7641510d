import fc from 'fast-check'
import t from 'tap'
import { freePace } from '../../../../../core/dialects/loop-time.ts'
import { usualBounds } from '../../../../../core/dialects/json-scan.ts'
import { itemsIn, membersOf, wordsOf } from '../../../../../plugins/surfaces/v1/socket/words.ts'
import { seed } from '../../../../whole.ts'

const wordsIn = (text: string) => wordsOf(Buffer.from(text), usualBounds, freePace())
const textOf = (parts: readonly Buffer[] | null) => parts && Buffer.concat(parts).toString()

t.test('a message is taken apart without being read', async (t) => {
  const words = await wordsIn(
    '{ "type" : "response.create", "model": "e" ,"stream":false,"generate":false,"previous_response_id":"resp_1", "input": [ {"a":[1,{}]} , 2 ] , "z":{"input":1} }',
  )
  t.equal(words?.type, 'response.create')
  t.equal(words?.isWarm, true)
  t.equal(words?.previous?.whole.toString(), '"previous_response_id":"resp_1"')
  t.equal(words?.input?.toString(), '[ {"a":[1,{}]} , 2 ]')
  t.equal(textOf(itemsIn(words!.input!)), '{"a":[1,{}]} , 2')
  t.same(
    words?.members.map((member) => JSON.parse(`{${member.toString()}}`)),
    [{ model: 'e' }, { z: { input: 1 } }],
  )
  const bare = await wordsIn('{"input":null,"previous_response_id":null,"generate":true}')
  t.same([bare?.type, bare?.isWarm, bare?.previous, bare?.input], [undefined, false, null, null])
  t.match(await wordsIn('{"\\u0069nput":"Hi"}'), { members: [], input: Buffer.from('"Hi"') }, 'an escaped name')
  for (const other of ['[]', '"a"', '[{"type":"response.create"}]']) t.equal(await wordsIn(other), null, other)
})

t.test('values for long names and long values are never read', async (t) => {
  const long = 'x'.repeat(5_000)
  const words = await wordsIn(`{"${long}":1,"type":"${long}","previous_response_id":"${long}"}`)
  t.equal(words?.members.length, 1)
  const [member] = (await membersOf(Buffer.from(`{"${long}":1}`), usualBounds, freePace()))!
  t.equal(member?.name, null)
  t.equal(words?.type, undefined)
  t.equal(words?.previous?.value.length, 5_002, 'a response that nobody remembers')
})

t.test('messages that are no JSON', async (t) => {
  const cases = [
    '',
    '{',
    '{"a":"',
    '{"a":1}}',
    '{"a":1} b',
    'x{"a":1}',
    `${' '.repeat(100)}{"a":1}`,
    '{"type":fal}',
    '{"\\x":1}',
  ]
  for (const text of cases) await t.rejects(wordsIn(text), { message: 'Malformed JSON' }, text.trim())
  await t.rejects(wordsIn('{"input":1,"input":2}'), { message: /twice/ }, 'a member that stands twice')
  await t.rejects(
    wordsIn(`{${Array.from({ length: 300 }, (_, at) => `"a${at}":1`).join()}}`),
    { message: /too many members/ },
    'members',
  )
})

t.test('items of an input', (t) => {
  const cases: Readonly<Record<string, string | null>> = {
    '[]': '',
    '[ \n]': '',
    '[1]': '1',
    '[[],{}]': '[],{}',
    '"Hi \\"you\\""': '{"type":"message","role":"user","content":"Hi \\"you\\""}',
    '{}': null,
    '1': null,
    '[1': null,
  }
  for (const [input, items] of Object.entries(cases)) t.equal(textOf(itemsIn(Buffer.from(input))), items, input)
  t.end()
})

t.test('members are those of the language’s own reader, with the same values', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
      fc.constantFrom(0, 1, 3),
      async (given, spaces) => {
        const members = await membersOf(Buffer.from(JSON.stringify(given, null, spaces)), usualBounds, freePace())
        const read = Object.fromEntries(members!.map(({ name, value }) => [name, JSON.parse(value.toString())]))
        return JSON.stringify(read) === JSON.stringify(given)
      },
    ),
    { seed, numRuns: 300 },
  )
})
