import { Readable } from 'node:stream'
import t from 'tap'
import { multipart } from '../../../../plugins/surfaces/shared/multipart.ts'

t.test('fields beside the content that are too long have the code of a body over its limit', async (t) => {
  const form = `--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n${'x'.repeat(100)}\r\n--x--`
  const read = async (most: number) => {
    const fields: unknown[] = []
    const source = Readable.from([Buffer.from(form)])
    for await (const field of multipart(source, 'multipart/form-data; boundary=x', 'big', most)) fields.push(field)
    return fields
  }
  t.same(await read(1_000), [{ name: 'a', value: 'x'.repeat(100) }])
  await t.rejects(read(100), { status: 400, code: 'request_too_large', message: /100 bytes at most/ })
})
