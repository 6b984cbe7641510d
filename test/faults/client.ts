import { request, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'

export interface Target {
  /** With the path segment of the standard routes. */
  readonly base: string
  readonly key: string
}

/** What a caller sees of one call. */
export interface Sight {
  status: number
  text: string
  /** Ms from the request to the first byte, comments included; null when none came. */
  firstByte: number | null
  firstToken: number | null
  ms: number
  comments: number
  /** Model names that the answer gave. */
  readonly models: Set<string>
  finish: string | null
  /** The end mark of a stream, or a whole body. */
  done: boolean
  /** The error told in the body or in the stream. */
  error: string | null
  /** An event that is no JSON. */
  garbled: boolean
  /** The connection broke instead of ending. */
  broken: boolean
  raw: string
}

const head = (target: Target, path: string, body: string) => ({
  url: new URL(target.base + path),
  headers: {
    authorization: `Bearer ${target.key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  },
})

const bodyFor = (model: string, conversation: string, stream: boolean) =>
  JSON.stringify({ model, stream, messages: [{ role: 'user', content: conversation }] })

/** One call, read to its end. */
export const call = (
  target: Target,
  model: string,
  conversation: string,
  stream: boolean,
  most: number,
): Promise<Sight> =>
  new Promise((resolve) => {
    const begun = Date.now()
    const sight: Sight = {
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
      garbled: false,
      broken: false,
      raw: '',
    }
    const body = bodyFor(model, conversation, stream)
    const { url, headers } = head(target, '/chat/completions', body)
    const end = () => {
      clearTimeout(timer)
      sight.ms = Date.now() - begun
      resolve(sight)
    }
    const asked = request(url, { method: 'POST', headers, agent: false }, (response: IncomingMessage) => {
      sight.status = response.statusCode ?? 0
      let rest = ''
      const events = String(response.headers['content-type']).startsWith('text/event-stream')
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        sight.firstByte ??= Date.now() - begun
        sight.raw += part
        if (!events) return
        // A carriage return at the very end may be half of a line end.
        const lines = (rest + part).replace(/^\ufeff/, '').split(/\r\n|\n|\r(?!$)/)
        rest = lines.pop()!
        for (const line of lines) take(sight, line, begun)
      })
      response.on('end', () => {
        if (!events) takeBody(sight)
        end()
      })
      response.on('error', () => {
        sight.broken = true
        end()
      })
    })
    const timer = setTimeout(() => {
      sight.broken = true
      asked.destroy()
      end()
    }, most)
    asked.on('error', () => {
      sight.broken = true
      end()
    })
    asked.end(body)
  })

const take = (sight: Sight, line: string, begun: number) => {
  if (line.startsWith(':')) sight.comments++
  if (!line.startsWith('data:')) return
  const data = line.slice(5).trim()
  if (data === '[DONE]') return void (sight.done = true)
  let value
  try {
    value = JSON.parse(data)
  } catch {
    return void (sight.garbled = true)
  }
  if (value.error) return void (sight.error = JSON.stringify(value.error))
  sight.models.add(value.model)
  for (const { delta, finish_reason } of value.choices) {
    if (delta.content) sight.firstToken ??= Date.now() - begun
    sight.text += delta.content ?? ''
    sight.finish = finish_reason ?? sight.finish
  }
}

const takeBody = (sight: Sight) => {
  try {
    const value = JSON.parse(sight.raw)
    if (sight.status !== 200) sight.error = JSON.stringify(value.error)
    else {
      sight.models.add(value.model)
      sight.text = value.choices[0].message.content
      sight.finish = value.choices[0].finish_reason
      sight.done = true
    }
  } catch {
    sight.error = sight.status === 200 ? null : sight.raw
  }
}

export interface Leaving {
  readonly socket: Socket
  /** Bytes read so far. */
  read(): number
}

/** Asks over a bare socket, so that the caller can stop reading or leave whenever it wants. */
export const ask = async (target: Target, model: string, conversation: string, stream: boolean): Promise<Leaving> => {
  const body = bodyFor(model, conversation, stream)
  const { url, headers } = head(target, '/chat/completions', body)
  const socket = connect(Number(url.port), url.hostname)
  let bytes = 0
  socket.on('data', (part) => (bytes += part.length)).on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n${lines.join('')}\r\n${body}`)
  return { socket, read: () => bytes }
}
