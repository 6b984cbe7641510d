import { createServer, type IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import { listening } from './listening.ts'

/** The likeliest first tokens of every answer. */
const likely = ['yes', 'no', 'A', 'B'].map((token, at) => ({ token, logprob: -0.2 - at }))

/** An answer of an inference server: one word, its log-probabilities, and what it used. */
const completion = (model: unknown, word: string) => ({
  id: 'chatcmpl-house',
  object: 'chat.completion',
  created: 1_700_000_000,
  model,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: word },
      finish_reason: 'stop',
      logprobs: {
        content: [{ token: 'yes', logprob: -0.2, top_logprobs: likely }],
      },
    },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
})

const transcript = (text: string) => ({
  text,
  language: 'en',
  duration: 2,
  segments: [{ id: 0, start: 0, end: 2, text }],
  words: [{ word: text, start: 0, end: 2 }],
})

const events = (model: unknown, word: string): string => {
  const head = { id: 'chatcmpl-house', object: 'chat.completion.chunk', created: 1_700_000_000, model }
  const choice = (delta: object, finish_reason: string | null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  })
  const { usage } = completion(model, word)
  const chunks = [
    choice({ role: 'assistant', content: '' }, null),
    choice({ content: word }, null),
    choice({}, 'stop'),
    { ...head, choices: [], usage },
  ]
  return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
}

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString()
  return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
}

/** A server with the common routes of chat, transcription and models, which answers every chat with `word`. */
export const inferenceServer = async (
  t: Test,
  word: string,
  models: readonly string[],
  fails: () => boolean = () => false,
): Promise<string> => {
  const server = createServer(async (request, response) => {
    const { model, stream } = await bodyOf(request)
    const answer = (type: string, text: string) => response.writeHead(200, { 'content-type': type }).end(text)
    const json = (value: object) => answer('application/json', JSON.stringify(value))
    if (fails())
      return response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"down"}}')
    if (request.url?.endsWith('/models'))
      return json({ object: 'list', data: models.map((id) => ({ id, object: 'model' })) })
    if (request.url?.includes('/audio/')) return json(transcript(word))
    return stream === true ? answer('text/event-stream', events(model, word)) : json(completion(model, word))
  })
  const { port } = await listening(t, server, '127.0.0.1')
  return `http://127.0.0.1:${port}/v1`
}
