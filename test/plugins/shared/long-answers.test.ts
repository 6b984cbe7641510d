import t from 'tap'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Answer } from '../../../core/ports/platform.ts'
import { readObject } from '../../../plugins/shared/backend.ts'
import { turnsDuring } from '../../turns-during.ts'

const answered = (bytes: Buffer): Answer => ({
  status: 200,
  header: () => null,
  body: (async function* () {
    yield bytes.subarray(0, 1_000)
    yield bytes.subarray(1_000)
  })(),
  discard: () => undefined,
})

const numbers = Array.from({ length: 200_000 }, (_, at) => at / 3)
const long = { data: [{ embedding: numbers }], text: 'é'.repeat(1_000), usage: { prompt_tokens: 1 } }

t.test('a long answer of a backend is read in turns of the loop', async (t) => {
  const bytes = Buffer.from(JSON.stringify(long))
  t.same(await readObject(answered(bytes)), long)
  const turns = await turnsDuring(() => readObject(answered(bytes)))
  t.ok(turns > 50, `${turns} turns for ${bytes.length} bytes`)
})

t.test('bytes of a long answer that are no UTF-8 become U+FFFD', async (t) => {
  const bytes = Buffer.concat([
    Buffer.from('{"text":"'),
    Buffer.alloc(1_200_000, 'a'),
    Buffer.from([0xff]),
    Buffer.from('"}'),
  ])
  const { text } = await readObject(answered(bytes))
  t.equal((text as string).slice(-2), 'a\ufffd')
})

t.test('a long answer that is no object is a fault of the backend, which quotes nothing of the answer', async (t) => {
  const secret = 'secret-words '.repeat(100_000)
  for (const wrong of [`{"text":"${secret}"`, `["${secret}"]`, `{"text":"${secret}",}`, `{"text":${secret}}`]) {
    const fault = await readObject(answered(Buffer.from(wrong))).then(
      () => null,
      (fault: unknown) => fault,
    )
    if (!t.ok(fault instanceof UpstreamFailed)) continue
    let told = ''
    for (let cause: unknown = fault; cause instanceof Error; cause = cause.cause) told += `${cause.message} `
    t.match(told, /The answer is not a JSON object/)
    t.notMatch(told, /secret-words/)
  }
})
