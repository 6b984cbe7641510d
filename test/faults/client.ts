import { request, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { slowness } from '../slowness.ts'
import type { Sight, Tongue } from './tongues.ts'

export interface Target {
  /** The address alone. */
  readonly base: string
  readonly key: string
  readonly tongue: Tongue
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

/** One call, read to its end; `most` are the ms of a quiet machine after which it counts as hung. */
export const call = (
  target: Target,
  model: string,
  conversation: string,
  stream: boolean,
  most: number,
  heard: (comments: number) => void = () => {},
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
      last: null,
      garbled: false,
      broken: false,
      raw: '',
    }
    const { url, headers, body } = requestOf(target, model, conversation, stream)
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
        // A long line in small pieces is split once, at its end.
        if (!/[\r\n]/.test(part)) return void (rest += part)
        // A carriage return at the very end may be half of a line end.
        const lines = (rest + part).replace(/^\ufeff/, '').split(/\r\n|\n|\r(?!$)/)
        rest = lines.pop()!
        for (const line of lines) take(sight, target.tongue, line, begun)
        heard(sight.comments)
      })
      response.on('end', () => {
        if (!events) takeBody(sight, target.tongue)
        end()
      })
      response.on('error', () => {
        sight.broken = true
        end()
      })
    })
    const late = () => {
      const left = most * slowness() - (Date.now() - begun)
      if (left > 0) return void (timer = setTimeout(late, left))
      sight.broken = true
      asked.destroy()
      end()
    }
    let timer = setTimeout(late, most)
    asked.on('error', () => {
      sight.broken = true
      end()
    })
    asked.end(body)
  })

const take = (sight: Sight, tongue: Tongue, line: string, begun: number) => {
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
  sight.last = value
  if (value.error) return void (sight.error = JSON.stringify(value.error))
  tongue.event(value, sight)
  if (sight.text !== '') sight.firstToken ??= Date.now() - begun
}

const takeBody = (sight: Sight, tongue: Tongue) => {
  try {
    const value = JSON.parse(sight.raw)
    if (sight.status !== 200) sight.error = JSON.stringify(value.error)
    else {
      tongue.whole(value, sight)
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
  const { url, headers, body } = requestOf(target, model, conversation, stream)
  const socket = connect(Number(url.port), url.hostname)
  let bytes = 0
  socket.on('data', (part) => (bytes += part.length)).on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n${lines.join('')}\r\n${body}`)
  return { socket, read: () => bytes }
}
