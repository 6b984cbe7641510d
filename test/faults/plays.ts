import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../until.ts'

/** Sixty words; every answer is compared with them letter for letter. */
export const answer =
  'On a morning the ferry left Besançon’s quay with eleven goats, two nuns and a crate of naïve paintings 🎨 bound for 東京. ' +
  'Nobody spoke until the fog lifted; then the captain, who had taught geometry in Łódź, drew a perfect circle on the ' +
  'deck and asked the goats whether they could find its centre before noon struck. None could.'

const words = answer.split(/(?<= )/)

/** Signs of life that a caller gets before a late first token. */
export const lively = 3
/** Ms that the token waits for them beyond its time. */
const late = 2_000

export interface Ask {
  readonly model: string
  readonly stream: boolean
  /** Text that the answer goes on from. */
  readonly prefix: string
  /** How often this conversation has asked, from 1. */
  readonly call: number
  readonly includeUsage: boolean
}

/** What the provider saw of one conversation. */
export interface Seen {
  calls: number
  /** When each call came, ms. */
  readonly at: number[]
  /** Sockets that are answering now. */
  open: number
  /** When the last of them was closed by the other side before its answer ended. */
  left: number | null
  /** Bytes handed to sockets. */
  sent: number
  /** Comments that the caller has read so far. */
  comments: number
}

export interface Stage {
  readonly socket: Socket
  readonly pace: number
  readonly its: Seen
}

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Unavailable',
}

export const respond = (socket: Socket, status: number, body: string, headers = '', length = Buffer.byteLength(body)) =>
  socket.write(
    `HTTP/1.1 ${status} ${reasons[status]}\r\ncontent-type: application/json\r\n${headers}content-length: ${length}\r\n\r\n${body}`,
  )

const failure = '{"error":{"message":"secret words of the backend","type":"server_error"}}'

const usage = { prompt_tokens: 7, completion_tokens: 90, total_tokens: 97 }

const chunk = (model: string, delta: object, finish: string | null = null, more: object = {}) =>
  JSON.stringify({
    id: 'chatcmpl-fault',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })

const completion = (model: string) =>
  JSON.stringify({
    id: 'chatcmpl-fault',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }],
    usage,
  })

/** Resolves when the socket takes more, or is closed. */
const roomIn = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })

/** A chunked answer whose pieces are written one by one. */
const streaming = ({ socket, its }: Stage) => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n')
  const piece = async (bytes: string | Buffer) => {
    if (socket.destroyed) throw new Error('left')
    const data = Buffer.from(bytes as string)
    its.sent += data.length
    const room = socket.write(
      Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]),
    )
    if (!room) await roomIn(socket)
  }
  return {
    piece,
    event: (data: string) => piece(`data: ${data}\n\n`),
    end: () => socket.write('0\r\n\r\n'),
    cut: () => socket.destroy(),
  }
}

/** Plays the fault of the model's name; afterwards the socket is free for the next request, or destroyed. */
export const play = async (stage: Stage, ask: Ask): Promise<void> => {
  const { socket, pace } = stage
  const { model, call } = ask
  const rest =
    ask.prefix !== '' && answer.startsWith(ask.prefix) ? answer.slice(ask.prefix.length).split(/(?<= )/) : words
  const going = ask.prefix !== ''
  const forever = () => new Promise<void>((resolve) => socket.once('close', resolve))

  const whole = async (parts: readonly string[], finish = 'stop') => {
    if (!ask.stream) return void respond(socket, 200, completion(model))
    const out = streaming(stage)
    await out.event(chunk(model, { role: 'assistant', content: '' }))
    for (const word of parts) await out.event(chunk(model, { content: word }))
    await out.event(chunk(model, {}, finish))
    if (ask.includeUsage) await out.event(JSON.stringify({ ...JSON.parse(chunk(model, {})), choices: [], usage }))
    await out.event('[DONE]')
    out.end()
  }

  /** Half of the answer, then what goes wrong. */
  const half = async (then: (out: ReturnType<typeof streaming>) => Promise<unknown> | unknown) => {
    const out = streaming(stage)
    await out.event(chunk(model, { role: 'assistant', content: '' }))
    for (const word of words.slice(0, 30)) await out.event(chunk(model, { content: word }))
    await sleep(20)
    await then(out)
  }

  const endless = async (size: number, gap: number) => {
    const out = streaming(stage)
    const text = 'x'.repeat(size)
    while (!socket.destroyed) {
      await out.event(chunk(model, { content: text }))
      await sleep(gap)
    }
  }

  switch (model) {
    case 'S01':
      if (call === 1) return void respond(socket, 429, failure, 'retry-after: 1\r\n')
      break
    case 'S02':
      if (call === 1) return void respond(socket, 500, failure)
      break
    case 'S03':
      if (call <= 2) return void respond(socket, 503, failure)
      break
    case 'S05':
      if (call === 1) return void socket.resetAndDestroy()
      break
    case 'S06':
      if (call === 1) return forever()
      break
    case 'S07':
      await sleep(20_000 * pace)
      // A busy machine delays the signs of life as well as this: the token comes after them, or late.
      await until(() => stage.its.comments >= lively, late)
      break
    case 'S08':
    case 'S14':
      if (!going) return half((out) => out.cut())
      break
    case 'S09':
      if (!going) {
        return half(async (out) => {
          await Promise.race([sleep(30_000 * pace), forever()])
          if (!socket.destroyed) out.cut()
        })
      }
      break
    case 'S10':
      if (!going) {
        return half(async (out) => {
          await out.event('{"id":"chatcmpl-fault","choices":[{"index":0,"delta":{"content":')
          for (const word of words.slice(30)) await out.event(chunk(model, { content: word }))
          await out.event(chunk(model, {}, 'stop'))
          await out.event('[DONE]')
          out.end()
        })
      }
      break
    case 'S11':
      if (!going) {
        return half(async (out) => {
          await out.event(failure)
          out.end()
        })
      }
      break
    case 'S12': {
      const body = completion(model)
      if (call > 2) break
      respond(socket, 200, body, '', Buffer.byteLength(body) + (call === 1 ? 500 : -50))
      return void socket.end()
    }
    case 'S13':
      return whole(words.slice(0, 10), 'content_filter')
    case 'S15':
      if (call === 1) {
        const body = Buffer.from(completion(model)).subarray(0, 200)
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`,
        )
        socket.write(body)
        return void socket.end()
      }
      break
    case 'S16':
      return dribble(stage, model)
    case 'C01':
    case 'C05':
      return forever()
    case 'C02':
      return endless(20, 10)
    case 'C03':
    case 'C04':
      return endless(16 * 1024, 0)
  }
  return whole(rest)
}

/** Every way in which bytes may come apart: one at a time, all line ends, a byte order mark, comments, a line of 2 MB. */
const dribble = async (stage: Stage, model: string): Promise<void> => {
  const { piece, end } = streaming(stage)
  const ends = ['\n', '\r\n', '\r']
  const bytewise = async (text: string) => {
    for (const byte of Buffer.from(text)) {
      await piece(Buffer.of(byte))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await bytewise('\ufeff: hello\n\n')
  for (const [index, word] of words.entries()) {
    const nl = ends[index % 3]!
    const event = `${index % 7 === 0 ? `: note${nl}` : ''}${index % 5 === 0 ? `event: message${nl}id: ${index}${nl}` : ''}data:${index % 2 ? ' ' : ''}${chunk(model, { content: word })}${nl}${nl}`
    if (index === 40)
      await piece(`data: ${chunk(model, { content: '' }, null, { padding: 'p'.repeat(2 * 1024 * 1024) })}\n\n`)
    if (index < 12 || /[^\x20-\x7e]/.test(word)) await bytewise(event)
    else await piece(event)
  }
  await bytewise(`data: ${chunk(model, {}, 'stop')}\r\n\r\ndata: [DONE]\r\n\r\n`)
  end()
}
