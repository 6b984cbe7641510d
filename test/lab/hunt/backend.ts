import { once } from 'node:events'
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { wavOf } from '../../../plugins/shared/sounds/wav.ts'

const chatPath = '/v1/chat/completions'
/** Tokens of the one long answer. */
const oddsPlaces = 16_000

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const likely = ['A', 'B', 'yes', 'no', '0', '1'].map((token) => ({ token, logprob: -1 }))
const choice = {
  index: 0,
  message: { role: 'assistant', content: 'A' },
  finish_reason: 'stop',
  logprobs: { content: [{ ...likely[0], top_logprobs: likely }] },
}

/** Numbers of a vector, where nothing is said of them. */
const usualDimensions = 3

const vectorOf = (dimensions: number): string =>
  Buffer.from(Float32Array.from({ length: dimensions }, (_, at) => Math.sin(at + 1)).buffer).toString('base64')

const drawn = { created: 1, data: [{ b64_json: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB' }] }

const likelyOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ token: ` ${at}`, logprob: -at - 1 / 3, bytes: [32, 48 + at] }))

/** A chat with the twenty most likely tokens in each place, where a body asks for all of them. */
const oddsOf = (body: Buffer): object | null => {
  if (body.length > 1_024) return null
  const { logprobs, top_logprobs, max_tokens } = JSON.parse(body.toString()) as Readonly<Record<string, unknown>>
  if (logprobs !== true || top_logprobs !== 20 || max_tokens !== oddsPlaces) return null
  const likely = likelyOf(20)
  const content = Array.from({ length: oddsPlaces }, () => ({ ...likely[0], top_logprobs: likely }))
  return { ...answers[chatPath], choices: [{ ...choice, logprobs: { content } }] }
}

const eventOf = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }, choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`

/** Events that come at once, by the words that a body asks for them with. */
const bursts: Readonly<Record<string, () => readonly string[]>> = {
  'thoughts and words in turn': () =>
    Array.from({ length: 20_000 }, (_, at) =>
      eventOf(at % 2 === 0 ? { reasoning_content: `w${at} ` } : { content: `w${at} ` }),
    ),
  'words with their odds': () => {
    const content = [{ ...likelyOf(20)[0], top_logprobs: likelyOf(20) }]
    return Array.from({ length: 4_000 }, (_, at) => eventOf({ content: `w${at} ` }, { logprobs: { content } }))
  },
  'empty lines': () => [eventOf({ content: 'a' }) + '\n'.repeat(4_000_001)],
}

const burstOf = (body: Buffer): readonly string[] | null => {
  const wanted = body.length > 1_024 ? undefined : Object.keys(bursts).find((words) => body.includes(words))
  return wanted === undefined
    ? null
    : [...bursts[wanted]!(), eventOf({}, { finish_reason: 'stop' }), 'data: [DONE]\n\n']
}

/** Each event is a chunk of its own, as vendors send them. */
const sendBurst = (response: ServerResponse, burst: readonly string[]): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.cork()
  for (const event of burst) response.write(event)
  response.uncork()
  response.end()
}

/** The same answer to every question of a kind. Nothing else is read of a body. */
const answers: Readonly<Record<string, object>> = {
  '/v1/models': { object: 'list', data: [] },
  [chatPath]: { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage },
  '/v1/moderations': { id: 'm', model: 'm', results: [{ flagged: false }] },
  '/v1/images/generations': drawn,
  '/v1/images/edits': drawn,
  '/v1/audio/transcriptions': { text: 'Hello.', duration: 2, language: 'english' },
  '/v1/audio/translations': { text: 'Hello.', duration: 2, language: 'english' },
}
const sound = wavOf({ rate: 8_000, channels: 1, bits: 16, samples: new Uint8Array(4096) })

export interface Backend {
  readonly url: string
  close(): void
}

const embedded = (body: Buffer): object => {
  const { input, dimensions = usualDimensions } = JSON.parse(body.toString()) as {
    readonly input: unknown
    readonly dimensions?: number
  }
  const texts = Array.isArray(input) ? input : [input]
  const embedding = vectorOf(dimensions)
  return { data: texts.map((_, index) => ({ index, embedding })), usage }
}

const answerTo = (path: string, body: Buffer): object | undefined =>
  path === '/v1/embeddings' ? embedded(body) : (path === chatPath && oddsOf(body)) || answers[path]

export const startBackend = async (): Promise<Backend> => {
  const server = createServer((request, response) => {
    if (request.url === '/v1/files') {
      request.resume().once('end', () => response.end('{"id":"file-1","object":"file"}'))
      return
    }
    void buffer(request).then((body) => {
      const burst = request.url === chatPath ? burstOf(body) : null
      if (burst !== null) return sendBurst(response, burst)
      const answer = answerTo(request.url ?? '', body)
      response.writeHead(200, { 'content-type': answer === undefined ? 'audio/wav' : 'application/json' })
      return response.end(answer === undefined ? sound : JSON.stringify(answer))
    })
  })
  // A kept connection that ends just when the gateway writes would be a fault of the backend.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
