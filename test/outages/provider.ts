import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** Silent: it takes every call and never says a word. */
export type Manner = 'answers' | 'refuses' | 'silent'

export interface Provider {
  readonly url: string
  turn(manner: Manner): Promise<void>
  /** Up and down in turn, every so many ms, until it is turned to anything else. */
  flap(every: number): void
  close(): Promise<void>
}

export const usage = { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50 }
const json = { 'content-type': 'application/json' }
const head = { id: 'c', created: 1, model: 'm' }
const likely = ['yes', 'no', 'A', 'B'].map((token, at) => ({ token, logprob: -1 - at }))

const chunk = (delta: object, finish_reason: string | null, more: object = {}) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`
const stream = `${chunk({ content: 'Well, ' }, null)}${chunk({ content: 'hello.' }, 'stop', { usage })}data: [DONE]\n\n`

const whole = (logprobs: boolean) => {
  const seen = logprobs && { logprobs: { content: [{ ...likely[0], top_logprobs: likely }] } }
  const message = { role: 'assistant', content: logprobs ? 'yes' : 'Well, hello.' }
  const choices = [{ index: 0, message, finish_reason: 'stop', ...seen }]
  return JSON.stringify({ ...head, object: 'chat.completion', choices, usage })
}

/** A chat backend at a socket of this process. */
export const startProvider = async (): Promise<Provider> => {
  let manner: Manner = 'answers'
  let flapping: NodeJS.Timeout | undefined
  const isSilent = () => manner === 'silent'
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (isSilent()) return
    const asked = JSON.parse((await text(request)) || '{}') as { stream?: boolean; logprobs?: boolean }
    if (isSilent()) return
    response.writeHead(200, asked.stream ? { 'content-type': 'text/event-stream' } : json)
    response.end(asked.stream ? stream : whole(asked.logprobs === true))
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  const listen = async (port: number) => {
    if (!server.listening) await once(server.listen(port, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listen(0)

  const be = async (next: Manner) => {
    manner = next
    if (next !== 'refuses') return void (await listen(port))
    server.close()
    server.closeAllConnections()
  }
  const turn = async (next: Manner) => {
    clearInterval(flapping)
    await be(next)
  }
  return {
    url: `http://127.0.0.1:${port}/v1`,
    turn,
    flap(every) {
      flapping = setInterval(() => void be(manner === 'answers' ? 'refuses' : 'answers'), every)
    },
    close: () => turn('refuses'),
  }
}
