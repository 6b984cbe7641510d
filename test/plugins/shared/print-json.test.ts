import fc from 'fast-check'
import t from 'tap'
import { printJson } from '../../../plugins/shared/print-json.ts'
import { turnsDuring } from '../../turns-during.ts'

/** Beyond what one turn of the loop prints. */
const long = 'x'.repeat(1024 * 1024)

const printed = async (value: unknown): Promise<string> => Buffer.from(await printJson(value)).toString()

t.test('a long value has the same JSON as a short one', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const whole = { value, long: `${long}"`, absent: undefined, list: [undefined, value] }
      return (await printed(whole)) === JSON.stringify(whole)
    }),
    { numRuns: 20 },
  )
})

t.test('what is no data prints as V8 prints it, in a long value too', async (t) => {
  const whole = { long, day: new Date(0), made: () => 1, list: [Buffer.alloc(2_000), () => 1], toJSON: 'a text' }
  t.equal((await printed(whole)) === JSON.stringify(whole), true)
})

t.test('a pair of surrogates is never torn, wherever it stands', async (t) => {
  for (const before of [0, 1, 65_535, 65_536]) {
    const text = `${'é'.repeat(before)}${'😀'.repeat(600_000)}`
    t.equal((await printed([text])) === JSON.stringify([text]), true, `${before} characters before`)
  }
  const half = `${long}\ud83d`
  t.equal((await printed(half)) === JSON.stringify(half), true, 'half of one stays half')
})

t.test('other calls have their turn while a long text is printed', async (t) => {
  let turns = 0
  const other = setInterval(() => turns++, 0)
  await printJson([long.repeat(32)])
  clearInterval(other)
  t.ok(turns > 4, `${turns} turns`)
})

t.test('other calls have their turn while many members are printed', async (t) => {
  const value = Array.from({ length: 24 }, (_, at) =>
    Object.fromEntries(Array.from({ length: 4_000 }, (_, member) => [`k${member}`, at])),
  )
  const turns = await turnsDuring(async () => {
    const printing = printJson({ more: value })
    t.type(printing, Promise)
    t.equal(Buffer.from(await printing).toString(), JSON.stringify({ more: value }))
  })
  t.ok(turns >= 90, `${turns} turns`)
})

t.test('long lists of numbers and of empty objects have the same JSON', async (t) => {
  for (const list of [Array.from({ length: 90_000 }, (_, at) => at), Array(9_000).fill({})])
    t.equal(await printed({ list, absent: undefined }), JSON.stringify({ list }))
})

t.test('a short value costs no turn', async (t) => {
  t.equal(printJson({ a: 1 }), '{"a":1}')
})
