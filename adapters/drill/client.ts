import { type IncomingMessage, request } from 'node:http'
import { type Socket, connect } from 'node:net'
import type { Sight, Tongue } from './tongue.ts'

/** The gateway that a scene calls, with the key and the dialect of its caller. */
export interface Target {
  /** The address alone. */
  readonly base: string
  readonly key: string
  readonly tongue: Tongue
}

/** How long a caller stays. */
export interface Patience {
  /** Ms of a quiet machine after which a call counts as hung. */
  readonly most: number
  /** How many times as long as on a quiet machine everything takes now; 1 or more. */
  slow(): number
}

const requestOf = ({ base, key, tongue }: Target, model: string, conversation: string, stream: boolean) => {
  const body = JSON.stringify(tongue.body(model, conversation, stream))
  return {
    url: new URL(base + tongue.under + tongue.path(model, stream)),
    body,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
  }
}

/** Status 0 means that no answer came: the connection was refused, broke or hung. */
const nothingSeen = (): Sight => ({
  status: 0,
  text: '',
  firstByte: null,
  firstToken: null,
  ms: 0,
  comments: 0,
  models: new Set(),
  finish: null,
  done: false,
  error: null,
  last: null,
  garbled: false,
  retryAfter: null,
  broken: false,
  raw: '',
})

/** One call, read to its end. `heard` learns how many comments have come. */
export const call = (
  target: Target,
  model: string,
  conversation: string,
  stream: boolean,
  { most, slow }: Patience,
  heard: (comments: number) => void = () => {},
): Promise<Sight> =>
  new Promise((resolve) => {
    const begun = Date.now()
    const sight = nothingSeen()
    const { url, headers, body } = requestOf(target, model, conversation, stream)
    const end = (): void => {
      clearTimeout(timer)
      sight.ms = Date.now() - begun
      resolve(sight)
    }
    const broken = (): void => {
      sight.broken = true
      end()
    }
    const sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
      sight.status = response.statusCode ?? 0
      const after = response.headers['retry-after']
      sight.retryAfter = after === undefined ? null : Number(after) * 1000
      listen(response, target.tongue, sight, begun, () => heard(sight.comments))
      response.on('end', end).on('error', broken)
    })
    const late = (): void => {
      const left = most * slow() - (Date.now() - begun)
      if (left > 0) return void (timer = setTimeout(late, left))
      broken()
      sent.destroy()
    }
    let timer = setTimeout(late, most)
    sent.on('error', broken)
    sent.end(body)
  })

/** Takes what comes, as events where it is a stream of them. */
const listen = (response: IncomingMessage, tongue: Tongue, sight: Sight, begun: number, heard: () => void): void => {
  const events = String(response.headers['content-type']).startsWith('text/event-stream')
  let rest = ''
  response.setEncoding('utf8')
  response.on('data', (part: string) => {
    sight.firstByte ??= Date.now() - begun
    sight.raw += part
    if (!events) return
    // A long line in small pieces is split once, at its end.
    if (!/[\r\n]/.test(part)) return void (rest += part)
    // A carriage return at the very end may be half of a line end.
    const lines = (rest + part).replace(/^\ufeff/, '').split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) take(sight, tongue, line, begun)
    heard()
  })
  if (!events) response.on('end', () => takeBody(sight, tongue))
}

/** Fields other than `data` are skipped, as the caller of a chat needs none of them. */
const take = (sight: Sight, tongue: Tongue, line: string, begun: number): void => {
  if (line.startsWith(':')) sight.comments++
  if (!line.startsWith('data:')) return
  const data = line.slice(5).trim()
  if (data === '[DONE]') return void (sight.done = true)
  try {
    const value = JSON.parse(data) as { readonly error?: unknown }
    sight.last = value
    if (value.error) sight.error = JSON.stringify(value.error)
    else tongue.event(value, sight)
  } catch {
    // What is no JSON, and what is no event of the dialect.
    sight.garbled = true
  }
  if (sight.text !== '') sight.firstToken ??= Date.now() - begun
}

/** A 200 whose body is no JSON stays without `done`; behind any other status, such a body is the error. */
const takeBody = (sight: Sight, tongue: Tongue): void => {
  try {
    const value = JSON.parse(sight.raw) as { readonly error?: unknown }
    if (sight.status !== 200) return void (sight.error = JSON.stringify(value.error))
    tongue.whole(value, sight)
    sight.done = true
  } catch {
    sight.error = sight.status === 200 ? null : sight.raw
  }
}

/** A call whose answer may stay unread: the caller holds the socket and decides when to leave. */
export interface Leaving {
  readonly socket: Socket
  /** Bytes read so far. */
  read(): number
}

/** Asks over a bare socket, so that the caller can stop reading or leave whenever it wants. */
export const ask = async (target: Target, model: string, conversation: string, stream: boolean): Promise<Leaving> => {
  const { url, headers, body } = requestOf(target, model, conversation, stream)
  const socket = connect(Number(url.port), url.hostname)
  let bytes = 0
  socket.on('data', (part) => (bytes += part.length)).on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n${lines.join('')}\r\n${body}`)
  return { socket, read: () => bytes }
}
