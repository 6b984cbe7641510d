import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const words = Array.from({ length: 30 }, (_, at) => `word${at} `)
export const said = words.join('')

const json = { 'content-type': 'application/json' }
const usage = { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50 }

const chunkOf = (delta: object, finish_reason: string | null = null, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`

/** Says it word by word over a quarter of a second; a cut one breaks anywhere. */
const stream = async (answer: ServerResponse, cut: boolean) => {
  answer.writeHead(200, { 'content-type': 'text/event-stream' })
  const last = cut ? 1 + Math.floor(Math.random() * (words.length - 1)) : words.length
  for (const content of words.slice(0, last)) {
    if (answer.destroyed) return
    answer.write(chunkOf({ content }))
    await sleep(8)
  }
  if (cut) return void answer.destroy()
  answer.write(chunkOf({}, 'stop', { usage }))
  answer.end('data: [DONE]\n\n')
}

interface Asked {
  readonly model?: string
  readonly stream?: boolean
  readonly logprobs?: boolean
  readonly input?: string | readonly string[]
}

const likely = ['A', 'B', 'C', 'yes', 'no', '0', '1', '2'].map((token, at) => ({ token, logprob: -1 - at / 4 }))

const completionOf = ({ logprobs }: Asked) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: logprobs ? 'A' : said },
      finish_reason: 'stop',
      ...(logprobs && { logprobs: { content: [{ ...likely[0], top_logprobs: likely }] } }),
    },
  ],
  usage,
})

const heard = { text: 'Hello.', duration: 2, language: 'english' }

const others: Readonly<Record<string, unknown>> = {
  '/v1/models': { object: 'list', data: [] },
  '/v1/images/generations': { created: 1, data: [{ b64_json: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB' }] },
  '/v1/audio/transcriptions': heard,
  '/v1/audio/translations': heard,
}

const vectorsOf = ({ input }: Asked) => ({
  data: [input].flat().map((_, index) => ({ index, embedding: 'AACAPwAAAEAAAEDA' })),
  usage,
})

export interface Backend {
  readonly url: string
  /** Calls that it is answering now. */
  active(): number
  /** Connections that are open. */
  open(): Promise<number>
  close(): void
}

/** The same answer to every question, after a little while. */
export const startBackend = async (): Promise<Backend> => {
  let active = 0
  const server = createServer(async (request, answer) => {
    active++
    answer.once('close', () => active--)
    const parts: Buffer[] = []
    try {
      for await (const part of request) parts.push(part as Buffer)
    } catch {
      // It was left before all was said.
      return
    }
    await sleep(5 + Math.random() * 60)
    if (request.url === '/v1/audio/speech') {
      answer.writeHead(200, { 'content-type': 'audio/mpeg' })
      return void answer.end(Buffer.alloc(32 * 1024, 'a'))
    }
    const other = others[request.url!]
    if (other !== undefined) {
      answer.writeHead(200, json)
      return void answer.end(JSON.stringify(other))
    }
    const asked = JSON.parse(Buffer.concat(parts).toString()) as Asked
    if (request.url === '/v1/embeddings') {
      answer.writeHead(200, json)
      return void answer.end(JSON.stringify(vectorsOf(asked)))
    }
    if (asked.stream) return stream(answer, asked.model === 'cut')
    answer.writeHead(200, json)
    answer.end(JSON.stringify(completionOf(asked)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    active: () => active,
    open: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
