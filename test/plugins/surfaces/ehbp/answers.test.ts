import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { emptyTrailer } from '../../../../plugins/sealed/enclave/reply.ts'
import { answeredChat } from '../../../../plugins/surfaces/ehbp/answers.ts'

type Given = Parameters<typeof answeredChat>

/** What the route answers where the enclave's answer has such digits or bytes. */
const answerOf = (chunk: string | Uint8Array) => {
  const body = { nonce: '00', chunk }
  const reply = { kind: 'body', status: 200, body, failure: null, trailer: emptyTrailer }
  const request = {
    id: 'a',
    caller: { organization: 'acme', key: 'k', scopes: [] },
    headers: { 'ehbp-encapsulated-key': 'ab'.repeat(32) },
    signal: new AbortController().signal,
    bytes: (async function* () {
      yield Buffer.from('sealed')
    })(),
  }
  const supplied = {
    enclave: { handle: async () => reply, models: async () => [] },
    receipts: { enter: () => undefined },
    meter: { reserve: async () => ({ headers: {}, full: [], settle: () => undefined }) },
    settings: { bodies: { chat: 1_000 } },
  }
  return answeredChat(request as unknown as Given[0], supplied as unknown as Given[1])
}

t.test('the bytes of a long answer go out as they are', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 3_000_001 }, (_, at) => at % 251))
  const reply = await answerOf(new Uint8Array(bytes))
  if (reply.kind !== 'bytes') throw new Error(reply.kind)
  const chunk = await buffer(reply.bytes)
  t.equal(reply.size, chunk.length)
  t.equal(chunk.readUInt32BE(0), bytes.length)
  t.ok(chunk.subarray(4).equals(bytes))
})

t.test('the digits of a short answer are read', async (t) => {
  const reply = await answerOf('0102ff')
  t.match(reply, { kind: 'text', status: 200, text: Buffer.from([0, 0, 0, 3, 1, 2, 255]) })
})
