import { createTransport } from 'ehbp'
import type { SealgateError } from '../../plugins/sealed/client/error.ts'
import { members, repeatedIn } from '../lab/hunt/bodies.ts'
import { type Envelope, keyAt, sealedFor } from '../lab/hunt/sealing.ts'
import {
  type Beginning,
  connected,
  inTinyChunks,
  leftOpen,
  pipelined,
  post,
  postSealed,
  unfinished,
} from './attacks.ts'
import { batches } from './batches.ts'
import { indexes } from './indexes.ts'
import { clientOf, lanes } from './lanes.ts'
import type { Stage } from '../lab/hunt/stage.ts'
import { type Scene, mebibyte } from './scene.ts'
import { conversation, unknownKeys } from './besieged.ts'
import { victims } from './victims.ts'
import { webSockets } from './web-sockets.ts'

const chat = '/std/chat/completions'
const decision = '/compat/v1/decision'

/** `before`, then `unit` as often as it fits into so many bytes, then `after`. */
const body = (before: string, unit: string, after: string, bytes: number): Buffer =>
  repeatedIn(before, unit, after, bytes)

const emptyMessages = (bytes: number): Buffer => body('{"model":"chatting","messages":[', '{},', '{}]}', bytes)

/** One body to one route. */
const posting = (name: string, path: string, bytes: number, made: (bytes: number) => Buffer): Scene => ({
  name,
  async play(stage) {
    const body = made(bytes)
    await post(stage, path, body)
    return { sent: body.length }
  },
})

const sealing = (
  name: string,
  path: string,
  bytes: number,
  made: (bytes: number) => Buffer,
  envelope: Envelope,
): Scene => ({
  name,
  play: async (stage) => ({ sent: await postSealed(stage, path, made(bytes), envelope) }),
})

const inference: Envelope = { params: 'encryptedInference', parts: {}, beside: {} }
const search: Envelope = {
  params: 'encryptedParams',
  parts: { encryptedRagDek: { nonce: 'ragDekNonce', bytes: new Uint8Array(32) } },
  beside: {},
}

const firstLook = (path: string): Scene => ({
  name: `the first look at ${path}, twelve times at once`,
  stall: 60,
  async play({ base }) {
    const looks = Array.from({ length: 12 }, async () => (await fetch(base + path)).bytes())
    const documents = await Promise.all(looks)
    return { sent: documents.reduce((sum, { length }) => sum + length, 0) }
  },
})

const faults: readonly Scene[] = [
  // The first of all, since a gateway makes each of them once.
  firstLook('/openapi.json'),
  firstLook('/docs'),
  posting('a chat with 0.5 MB of empty messages', chat, 500_000, emptyMessages),
  posting('a chat with 2 MB of empty messages', chat, 2_000_000, emptyMessages),
  posting('a chat with 33 MB of empty messages', chat, 33_000_000, emptyMessages),
  posting('an indexing with 1 MB of empty files', '/files/encrypted/index', 1_000_000, (bytes) =>
    body('{"files":[', '{},', '{}]}', bytes),
  ),
  sealing('a sealed chat with 8 MB of empty messages', '/rvenc/chat/completions', 8_000_000, emptyMessages, inference),
  sealing(
    'a sealed chat with 95,000 unknown keys',
    '/rvenc/chat/completions',
    1_030_000,
    () => Buffer.from(`{"model":"chatting","messages":[{"role":"user","content":"a"}],${members(95_000).toString()}}`),
    inference,
  ),
  sealing(
    'a sealed search in 30 MB of numbers for files',
    '/tools/searchRag',
    30_000_000,
    (bytes) => body('{"query":"a","fileIds":[', '1,', '1]}', bytes),
    search,
  ),
]

/** A key may hold the bytes of two such chats at once; the gateway refuses the third. */
const threeLong: Scene = {
  name: 'three sealed chats of 24 MB at once from one program',
  only: 'long',
  async play({ base, key }) {
    const bytes = 24_000_000
    const { chat } = clientOf(base, key)
    const body = { model: 'chatting', messages: [{ role: 'user' as const, content: 'a'.repeat(bytes) }] }
    const calls = Array.from({ length: 3 }, () =>
      chat.completions.create(body).then(
        () => 'answered',
        (error: unknown) => (error as SealgateError).fault,
      ),
    )
    const ends = await Promise.all(calls)
    const others = ends.filter((end) => end !== 'answered' && end !== 'busy').length
    return {
      sent: ends.length * 2 * bytes,
      figures: [
        { name: 'calls that were cut', value: others, most: 0 },
        { name: 'calls without an answer', value: ends.filter((end) => end !== 'answered').length, most: 1 },
      ],
    }
  },
}

const largeJson: readonly Scene[] = [
  posting('a chat with 33 MB of short keys in an unknown field', chat, 33_000_000, (bytes) =>
    Buffer.concat([
      Buffer.from('{"model":"chatting","messages":[{"role":"user","content":"a"}],"more":{'),
      members(Math.floor((bytes - 100) / 11)),
      Buffer.from('}}'),
    ]),
  ),
  posting('a chat with one text of 33 MB', chat, 33_000_000, (bytes) =>
    body('{"model":"chatting","messages":[{"role":"user","content":"', 'a', '"}]}', bytes),
  ),
  posting('a decision about 16 MB of numbers', decision, 16_000_000, (bytes) =>
    body('{"model":"chatting","questions":{"a":{"type":"noul"}},"state":[', '1,', '1]}', bytes),
  ),
  posting('a decision about 16 MB of short keys', decision, 16_000_000, (bytes) =>
    Buffer.concat([
      Buffer.from('{"model":"chatting","questions":{"a":{"type":"noul"}},"state":{'),
      members(Math.floor((bytes - 100) / 11)),
      Buffer.from('}}'),
    ]),
  ),
]

/** Bodies of 1.03 MB whose 95,000 keys nobody knows, on every route that reads JSON. */
const questions = '"model":"chatting","questions":{"a":{"type":"noul"}}'
const manyKeys: Readonly<Record<string, readonly [path: string, before: string, after?: string]>> = {
  'a chat': [chat, `{${conversation},`],
  'a chat with them within': [chat, `{${conversation},"more":{`, '}}'],
  'a chat of the other address': ['/v1/chat/completions', `{${conversation},`],
  messages: ['/v1/messages', `{${conversation},`],
  'messages that think': ['/v1/messages', `{${conversation},"thinking":{"type":"enabled","budget_tokens":1024,`, '}}'],
  'a count of tokens': ['/v1/messages/count_tokens', `{${conversation},`],
  'a response': ['/v1/responses', '{"model":"chatting","store":false,"input":"a",'],
  embeddings: ['/v1/embeddings', '{"model":"embedding","input":"a",'],
  'contents of Gemini': [
    '/v1beta/models/chatting:generateContent',
    '{"contents":[{"role":"user","parts":[{"text":"a"}]}],',
  ],
  'a decision': ['/compat/v1/decision', `{${questions},"state":{`, '}}'],
  'a decision of OpenAI’s clients': [
    '/v1/decisions',
    '{"model":"chatting","questions":[{"type":"predicate","instructions":"a"}],"input":[{"role":"user","content":[{"type":"input_json","data":{',
    '}}]}]}',
  ],
  'a message of MCP': ['/mcp', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{', '}}'],
  'an indexing': ['/files/encrypted/index', '{"files":[],'],
  speech: ['/v1/audio/speech', '{"model":"speaking","input":"a","voice":"alloy",'],
}
const keyed: readonly Scene[] = Object.entries(manyKeys).map(([name, [path, before, after = '}']]) =>
  posting(`95,000 unknown keys: ${name}`, path, 1_030_000, () => Buffer.from(before + unknownKeys + after)),
)

/** Just under each bound: the elements that a body may have, in the objects that are dearest. */
const underBounds: readonly Scene[] = [
  posting('a chat with 24 objects of 4,000 keys', chat, 1_060_000, () =>
    Buffer.from(
      `{${conversation},"more":[${Array(24)
        .fill(`{${members(4_000).toString()}}`)
        .join()}]}`,
    ),
  ),
  posting('a chat with 24,000 messages', chat, 720_000, (bytes) =>
    body(
      '{"model":"chatting","messages":[',
      '{"role":"user","content":"a"},',
      '{"role":"user","content":"a"}]}',
      bytes,
    ),
  ),
  posting('embeddings of 90,000 tokens', '/v1/embeddings', 180_000, (bytes) =>
    body('{"model":"embedding","input":[', '1,', '1]}', bytes),
  ),
  posting('a response about 1.8 MB of text', '/v1/responses', 1_800_000, (bytes) =>
    body('{"model":"chatting","store":false,"input":"', 'ab cd ', '"}', bytes),
  ),
]

/** The text of an answer, whose characters are bytes. */
type Answered = Pick<Awaited<ReturnType<typeof post>>, 'status' | 'text'>

/** A short body with a long answer, whose bytes cross the wire, too. */
const longAnswer = (
  name: string,
  path: string,
  made: (stage: Stage) => Buffer | Promise<Buffer>,
  send = (stage: Stage, body: Buffer): Promise<Answered> => post(stage, path, body),
): Scene => ({
  name,
  async play(stage) {
    const ask = async (): Promise<number> => {
      const body = await made(stage)
      const { status, text } = await send(stage, body)
      if (status !== 200) throw new Error(`The answer of "${name}" is ${status}`)
      return body.length + text.length
    }
    // The code of the route is loaded with its first call.
    await ask()
    await stage.watch.begin()
    return { sent: await ask() }
  },
})

const sealedCall = async ({ base, key }: Stage, body: string): Promise<Buffer> =>
  sealedFor(await keyAt(base, key), Buffer.from(body), inference).body

/** So many vectors of so many numbers, which are 32 MB. */
const [texts, numbers] = [1_000, 1_536]
const listed = (item: string): string => `[${Array(texts).fill(item).join()}]`
const embeddedTexts = `{"model":"embedding","dimensions":${numbers},"input":${listed('"a"')}}`
const contents = `{"requests":${listed(`{"outputDimensionality":${numbers},"content":{"parts":[{"text":"a"}]}}`)}}`

const vectors: readonly Scene[] = [
  longAnswer('a thousand vectors of the interface', '/std/embeddings', () => Buffer.from(embeddedTexts)),
  longAnswer('a thousand vectors of Gemini', '/v1beta/models/embedding:batchEmbedContents', () =>
    Buffer.from(contents),
  ),
  longAnswer('a thousand vectors of a sealed call', '/rvenc/embeddings', (stage) => sealedCall(stage, embeddedTexts)),
]

const ehbpChat = '/ehbp/v1/chat/completions'

const byEhbp = async ({ base, key }: Stage, body: Buffer): Promise<Answered> => {
  const transport = await createTransport(base)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await transport.post(base + ehbpChat, body.toString(), { headers })
  return { status: answer.status, text: await answer.text() }
}

/** The backend tells the twenty most likely tokens in each of so many places, which is 14 MB. */
const oddsChat =
  '{"model":"chatting","messages":[{"role":"user","content":"a"}],"logprobs":true,"top_logprobs":20,"max_tokens":16000}'
const odds: readonly Scene[] = [
  longAnswer('a chat with the odds of 16,000 tokens', chat, () => Buffer.from(oddsChat)),
  longAnswer('a sealed chat with the odds of 16,000 tokens', '/rvenc/chat/completions', (stage) =>
    sealedCall(stage, oddsChat),
  ),
  longAnswer('a chat by EHBP with the odds of 16,000 tokens', ehbpChat, () => Buffer.from(oddsChat), byEhbp),
]

/** A stream that the backend sends at once. */
const burst = (words: string, path: string, body: object): Scene => ({
  ...longAnswer(`a stream of ${words} at ${path}`, path, () => Buffer.from(JSON.stringify({ ...body, stream: true }))),
  stall: 150,
})

const wanted = (content: string) => ({ model: 'chatting', messages: [{ role: 'user', content }] })
const [inTurn, withOdds, empty] = ['thoughts and words in turn', 'words with their odds', 'empty lines'] as const
const bursts: readonly Scene[] = [
  burst(empty, chat, wanted(empty)),
  burst(inTurn, chat, wanted(inTurn)),
  burst(inTurn, '/v1/messages', { ...wanted(inTurn), max_tokens: 9 }),
  burst(withOdds, '/v1/responses', {
    model: 'chatting',
    input: withOdds,
    top_logprobs: 20,
    include: ['message.output_text.logprobs'],
  }),
  longAnswer(`a sealed stream of ${inTurn}`, '/rvenc/chat/completions', (stage) =>
    sealedCall(stage, JSON.stringify({ ...wanted(inTurn), stream: true })),
  ),
]

/** The parser of forms takes two steps for a line break that begins no boundary. */
const formOf = (content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nhearing\r\n'),
    Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n'),
    Buffer.from('content-type: audio/mpeg\r\n\r\n'),
    content,
    Buffer.from('\r\n--b--\r\n'),
  ])

const lineBreaks = (bytes: number): Scene => ({
  name: `a form with ${bytes / 1_000_000} MB of line breaks`,
  async play(stage) {
    const heard = async (body: Buffer): Promise<void> => {
      const { status } = await post(stage, '/v1/audio/transcriptions', body, 'multipart/form-data; boundary=b')
      if (status !== 200) throw new Error(`The answer to a form is ${status}`)
    }
    // The code of forms is loaded with the first one.
    await heard(formOf(Buffer.from('a')))
    await stage.watch.begin()
    const body = formOf(Buffer.alloc(bytes, '\r'))
    await heard(body)
    return { sent: body.length }
  },
})

// The longest form takes half a minute.
const longForm: Scene = { ...lineBreaks(24_000_000), only: 'bench' }
const forms: readonly Scene[] = [lineBreaks(2_000_000), longForm]

const chunked = (name: string, path: string, chunks: number, beginning?: Beginning): Scene => ({
  name,
  play: async (stage) => ({ sent: Math.min(4 * mebibyte, await inTinyChunks(stage, path, chunks, beginning)) }),
})

const chunks: readonly Scene[] = [
  chunked('a chat in 500,000 chunks of one byte', chat, 500_000),
  chunked('a chat in 12 million chunks of one byte', chat, 12_000_000),
  chunked('an upload in 500,000 chunks of one byte', '/files/encrypted/upload', 500_000),
  chunked('a form in 500,000 chunks of one byte', '/v1/audio/transcriptions', 500_000, {
    type: 'multipart/form-data; boundary=b',
    head: '--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
  }),
]

/** So many bytes of one request on each connection, which reads nothing. */
const pipelining = (path: string, bytes: number, connections: number): Scene => ({
  name: `${bytes} bytes of GET ${path} on each of ${connections} connections`,
  async play(stage) {
    // What the first look costs is another scene.
    await (await fetch(stage.base + path)).bytes()
    await stage.watch.begin()
    await pipelined(stage, `GET ${path}`, bytes, connections, 2_000)
    return { sent: connections * bytes }
  },
})

const [oneRequest, fewRequests, manyRequests] = [60, 1024, 63 * 1024]

const pipelines: readonly Scene[] = [
  pipelining('/docs', manyRequests, 1),
  pipelining('/docs', manyRequests, 12),
  pipelining('/none', manyRequests, 12),
  // As many as a connection may send ahead.
  pipelining('/docs', fewRequests, 40),
  pipelining('/none', fewRequests, 60),
  { ...pipelining('/docs', oneRequest, 1_000), only: 'bench' },
  pipelining('/none', fewRequests, 200),
]

/** Ms that a head may take, and ms in which its connection is gone after that. */
const [head, gone] = [15_000, 20_000]

const connections: readonly Scene[] = [
  {
    name: '500 half-open connections',
    only: 'long',
    async play(stage) {
      const sockets = await Promise.all(Array.from({ length: 500 }, () => connected(stage)))
      for (const socket of sockets) socket.resume().write('GET /docs HTTP/1.1\r\nhost: a\r\n')
      const left = await leftOpen(sockets, head + gone)
      for (const socket of sockets) socket.destroy()
      return { sent: 0, figures: [{ name: 'connections left', value: left, most: 0 }] }
    },
  },
  {
    name: '16 unfinished bodies of 31 MB',
    only: 'long',
    memory: 256 * mebibyte,
    async play(stage) {
      const bytes = 31_000_000
      const sockets = await unfinished(stage, chat, bytes, 16)
      const left = await leftOpen(sockets, 60_000)
      for (const socket of sockets) socket.destroy()
      return { sent: 16 * bytes, figures: [{ name: 'connections left after a minute', value: left, most: 0 }] }
    },
  },
]

/** What was seen of 1.0.0, each as it was done. */
export const scenes: readonly Scene[] = [
  ...faults,
  ...keyed,
  ...underBounds,
  ...vectors,
  ...odds,
  ...bursts,
  ...forms,
  ...chunks,
  ...webSockets,
  ...batches,
  ...indexes,
  ...pipelines,
  ...largeJson,
  threeLong,
  ...connections,
  ...lanes,
  ...victims,
]
