import { createServer } from 'node:http'
import { answering, lasting } from './answering.ts'

const created = 1_700_000_000
const whole = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created,
  model: 'bench',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'word '.repeat(300) }, logprobs: null, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 350, completion_tokens: 300, total_tokens: 650 },
})
const chunk = (delta: object, finish_reason: string | null, usage: object | null) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created, model: 'bench', choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage })}\n\n`
const chunks = [
  chunk({ role: 'assistant', content: '' }, null, null),
  ...Array.from({ length: 98 }, (_, at) => chunk({ content: ` word${at}` }, null, null)),
  chunk({}, 'stop', { prompt_tokens: 20, completion_tokens: 98, total_tokens: 118 }),
]

const named = (data: { readonly type: string; readonly [field: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'bench', content: [], stop_reason: null }
const events = [
  named({ type: 'message_start', message: { ...message, usage: { input_tokens: 20, output_tokens: 1 } } }),
  named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ...Array.from({ length: 95 }, (_, at) =>
    named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ` word${at}` } }),
  ),
  named({ type: 'content_block_stop', index: 0 }),
  named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 95 } }),
]
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] }
const response = { id: 'resp_1', object: 'response', created_at: created, model: 'bench', status: 'in_progress' }
const numbered = (type: string, at: number, more: object) => named({ type, sequence_number: at, ...more })
const pieces = [
  numbered('response.created', 0, { response: { ...response, output: [] } }),
  numbered('response.output_item.added', 1, { output_index: 0, item }),
  ...Array.from({ length: 97 }, (_, at) =>
    numbered('response.output_text.delta', at + 2, {
      ...{ item_id: 'msg_1', output_index: 0, content_index: 0, delta: ` word${at}`, logprobs: [] },
      obfuscation: 'x'.repeat(at % 16),
    }),
  ),
  numbered('response.output_item.done', 99, { output_index: 0, item: { ...item, status: 'completed' } }),
]
const usage = { input_tokens: 20, output_tokens: 97, total_tokens: 117 }

/** By path: the events, and the last one. */
const streams: Readonly<Record<string, readonly [readonly string[], string]>> = {
  '/v1/messages': [events, named({ type: 'message_stop' })],
  '/v1/responses': [
    pieces,
    numbered('response.completed', 100, { response: { ...response, status: 'completed', output: [item], usage } }),
  ],
}

/** A provider that answers at once, or with one write each two milliseconds; below `/slow`, each 100. */
answering(
  lasting(
    createServer((request, response) => {
      if (request.url!.includes('/audio/')) {
        request.resume()
        return void request.on('end', () => response.end(JSON.stringify({ text: 'heard', duration: 60 })))
      }
      let body = ''
      request.on('data', (part) => (body += part))
      request.on('end', () => {
        if (request.method === 'GET')
          return void response.end(JSON.stringify({ object: 'list', data: [{ id: 'bench', object: 'model' }] }))
        if (!/"stream":\s*true/.test(body)) {
          response.writeHead(200, { 'content-type': 'application/json' })
          return void response.end(whole)
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const [parts, last] = streams[request.url!] ?? [chunks, 'data: [DONE]\n\n']
        const pause = request.url!.startsWith('/slow/') ? 100 : 2
        let at = 0
        const next = () => {
          if (at < parts.length) {
            response.write(parts[at++])
            setTimeout(next, pause)
          } else response.end(last)
        }
        next()
      })
    }),
  ),
)
