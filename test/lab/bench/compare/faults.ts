import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Peer } from '../peers.ts'

const chunk = (content: string, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`

const begun = (response: ServerResponse): ServerResponse => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(chunk('first'))
  return response
}

/** What a backend does wrong, and what a caller of the gateway has to see. */
interface Fault {
  readonly stream: boolean
  play(response: ServerResponse, request: IncomingMessage): void
  holds(seen: Seen): boolean
}

interface Seen {
  /** 0 where the connection broke before an answer. */
  readonly status: number
  readonly text: string
  readonly headers: Headers
  /** The connection broke in the middle. */
  readonly broken: boolean
  readonly ms: number
  /** Whether the backend saw that the caller had left. */
  readonly left: boolean
}

const failed = ({ status, ms }: Seen): boolean => status >= 400 && ms < 20_000

/** Eight faults. Those that are no fault of the backend come first: a gateway may let a backend rest after failures. */
export const faults: Readonly<Record<string, Fault>> = {
  'a letter in two pieces arrives whole': {
    stream: true,
    play(response) {
      const bytes = Buffer.from(chunk('é', 'stop'))
      const at = bytes.indexOf(0xc3) + 1
      begun(response).write(bytes.subarray(0, at))
      setTimeout(() => {
        response.write(bytes.subarray(at))
        response.end('data: [DONE]\n\n')
      }, 50)
    },
    holds: ({ text }) => text.includes('é') || text.includes('\\u00e9'),
  },
  'a caller who leaves stops the backend': {
    stream: true,
    play: (response) => void begun(response),
    holds: ({ left }) => left,
  },
  'a 429 keeps its status and its retry-after': {
    stream: false,
    play: (response) => response.writeHead(429, { 'retry-after': '7' }).end('{"error":{"message":"slow down"}}'),
    holds: ({ status, headers }) => status === 429 && headers.get('retry-after') === '7',
  },
  'a page of HTML with status 500 is an error in JSON': {
    stream: false,
    play: (response) => response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Oops</h1>'),
    holds: (seen) => failed(seen) && seen.text.trimStart().startsWith('{'),
  },
  'a connection that breaks before an answer is an error': {
    stream: false,
    play: (_, request) => request.socket.destroy(),
    holds: (seen) => failed(seen) && seen.text.trimStart().startsWith('{'),
  },
  'half an answer is no answer': {
    stream: false,
    play(response, request) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
      response.write('{"id":"c","choices":[')
      setTimeout(() => request.socket.destroy(), 50)
    },
    holds: (seen) => failed(seen) || seen.broken,
  },
  'an answer that is no JSON is an error': {
    stream: false,
    play: (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":'),
    holds: failed,
  },
  'a stream that is cut does not end as if it were whole': {
    stream: true,
    play(response, request) {
      begun(response)
      setTimeout(() => request.socket.destroy(), 50)
    },
    holds: ({ text, broken }) => broken || /"error"/.test(text),
  },
}

/** A backend that plays the fault which the last message names. */
export const faultyBackend = async () => {
  const left = new Set<string>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += String(part)
    const name = Object.keys(faults).find((fault) => body.includes(fault))
    if (name === undefined) return void response.end('{"object":"list","data":[{"id":"bench","object":"model"}]}')
    response.once('close', () => left.add(name))
    faults[name]!.play(response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { base: `http://127.0.0.1:${port}`, left, stop }
}

/** Plays one fault through a gateway, and judges what its caller sees. */
export const holds = async (
  { subject, headers }: Omit<Peer, 'started'>,
  name: string,
  left: Set<string>,
): Promise<boolean> => {
  const fault = faults[name]!
  left.delete(name)
  const leaving = fault.play.length === 1 && name.startsWith('a caller')
  const abort = new AbortController()
  const began = performance.now()
  const seen = { status: 0, text: '', headers: new Headers(), broken: false }
  const timer = setTimeout(() => abort.abort(), leaving ? 1500 : 25_000)
  try {
    const answer = await fetch(`${subject.base}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'bench', stream: fault.stream, messages: [{ role: 'user', content: name }] }),
      signal: abort.signal,
    })
    Object.assign(seen, { status: answer.status, headers: answer.headers })
    const decoder = new TextDecoder()
    if (answer.body !== null)
      for await (const part of answer.body) seen.text += decoder.decode(part as Uint8Array, { stream: true })
  } catch {
    seen.broken = true
  }
  clearTimeout(timer)
  const ms = performance.now() - began
  if (leaving) await wait(2000)
  return fault.holds({ ...seen, ms, left: left.has(name) })
}
