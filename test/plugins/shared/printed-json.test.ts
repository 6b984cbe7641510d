import t from 'tap'
import { readAtOnce } from '../../../core/dialects/read-json.ts'
import { usualBounds } from '../../../core/dialects/json-scan.ts'
import { freePace } from '../../../core/dialects/loop-time.ts'
import { keepTexts } from '../../../core/dialects/json-text.ts'
import { Apart, printedBytes, printedJson } from '../../../plugins/shared/printed-json.ts'

const long = 'word '.repeat(300)

const values: Readonly<Record<string, unknown>> = {
  'a long text': long,
  'a long text of many bytes': '雪🎉é'.repeat(300),
  'a long text with escapes': `${long}"\\\n\u0000`,
  'a long text with half of a pair': `${long}\ud800`,
  'long texts among others': {
    a: 1,
    b: [{ text: long, c: null }, 'short', long],
    d: { text: `${long}!`, e: undefined },
  },
  'a long name': { [long]: long },
  'nothing long': { a: [1.5, 'two', null, true, {}, []] },
}

for (const [name, value] of Object.entries(values))
  t.test(name, async (t) => {
    const before = structuredClone(value)
    t.equal(printedBytes(value).toString(), JSON.stringify(value))
    t.equal(printedJson(value), JSON.stringify(value))
    t.same(value, before, 'the value stays as it was')
  })

t.test('a part that stands apart is printed in its place', async (t) => {
  const value = (list: unknown) => ({ before: long, list, behind: 'short' })
  const list = [{ text: long }, 2]
  t.equal(printedBytes(value(new Apart(list))).toString(), JSON.stringify(value(list)))
})

t.test('what came in a text is printed as it came, beside long texts', async (t) => {
  const text = `{"a":[1.0, 2],"b":"${long}","c":{"d":1e2}}`
  const read = readAtOnce(Buffer.from(text), usualBounds, freePace())!
  const { a, b, c } = read.value as Readonly<Record<string, unknown>>
  keepTexts(read.value, read.members())
  t.equal(printedBytes({ c, b, inner: [a] }).toString(), `{"c":{"d":1e2},"b":"${long}","inner":[[1.0, 2]]}`)
})
