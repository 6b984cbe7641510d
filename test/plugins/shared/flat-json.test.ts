import { Readable } from 'node:stream'
import t from 'tap'
import { flatJson } from '../../../plugins/shared/flat-json.ts'

const fieldsOf = async (count: number): Promise<number> => {
  const text = JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at])))
  let fields = 0
  for await (const _ of flatJson(Readable.from([Buffer.from(text)]), 'big')) fields++
  return fields
}

t.test('fields beside the content that are too long have the code of a body over its limit', async (t) => {
  const read = async () => {
    for await (const _ of flatJson(Readable.from([Buffer.from(`{"a":"${'x'.repeat(100)}"}`)]), 'big', 100)) continue
  }
  await t.rejects(read(), { status: 400, code: 'request_too_large', message: /100 bytes at most/ })
})

t.test('fields beside the content are few', async (t) => {
  t.equal(await fieldsOf(256).catch((error) => error.message), 256)
  await t.rejects(fieldsOf(257), { message: 'A JSON object has too many members' })
})
