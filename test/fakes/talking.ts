import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { listening } from './listening.ts'

/** A chat backend that answers with its name, and goes on with a stream when it is told to. */
export const talking = async (t: Test, name: string) => {
  const streams: ServerResponse[] = []
  const seen: Record<string, number> = { calls: 0 }
  const chunk = (content: string, reason: string | null = null) =>
    `data: ${JSON.stringify({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: name,
      choices: [{ index: 0, delta: { content }, finish_reason: reason }],
    })}\n\n`
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET') return response.end('{"object":"list","data":[]}')
    seen['calls']!++
    if (JSON.parse(await text(request)).stream !== true) {
      const choices = [{ index: 0, message: { role: 'assistant', content: name }, finish_reason: 'stop' }]
      const usage = { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 }
      response.setHeader('content-type', 'application/json')
      return response.end(
        JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: name, choices, usage }),
      )
    }
    response.setHeader('content-type', 'text/event-stream')
    response.write(chunk(`${name} begins`))
    return streams.push(response)
  }
  const server = createServer((request, response) => void answer(request, response))
  const { port } = await listening(t, server, '127.0.0.1')
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    calls: () => seen['calls']!,
    say: (content: string) => streams.forEach((stream) => stream.write(chunk(content))),
    end: () => streams.splice(0).forEach((stream) => stream.end(`${chunk('', 'stop')}data: [DONE]\n\n`)),
  }
}
