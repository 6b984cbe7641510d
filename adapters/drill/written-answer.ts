import type { Socket } from 'node:net'

/** Sixty words; every answer is compared with them letter for letter. */
export const answer =
  'On a morning the ferry left Besançon’s quay with eleven goats, two nuns and a crate of naïve paintings 🎨 bound for 東京. ' +
  'Nobody spoke until the fog lifted; then the captain, who had taught geometry in Łódź, drew a perfect circle on the ' +
  'deck and asked the goats whether they could find its centre before noon struck. None could.'

/** Each word keeps the space behind it, so that the words joined are the text again. */
export const wordsOf = (text: string): readonly string[] => text.split(/(?<= )/)

/** What the provider saw of one conversation. */
export interface Seen {
  calls: number
  /** When each call came, in ms, and under which path. */
  readonly at: { readonly ms: number; readonly path: string }[]
  /** Sockets that are answering now. */
  open: number
  /** When the last of them was closed by the other side before its answer ended. */
  left: number | null
  /** Bytes handed to sockets. */
  sent: number
  /** Comments that the caller has read so far. */
  comments: number
}

/** The socket of one call, and what is noted of its conversation. */
export interface Line {
  readonly socket: Socket
  readonly its: Seen
}

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Unavailable',
}

/** A `length` other than the body's is a fault to be played. Each line of `headers` brings its own CRLF. */
export const respond = (
  socket: Socket,
  status: number,
  body: string,
  headers = '',
  length = Buffer.byteLength(body),
): void =>
  void socket.write(
    `HTTP/1.1 ${status} ${reasons[status]}\r\ncontent-type: application/json\r\n${headers}content-length: ${length}\r\n\r\n${body}`,
  )

/** No caller may read the words of this error. */
export const failure = '{"error":{"message":"secret words of the backend","type":"server_error"}}'

const usage = { prompt_tokens: 7, completion_tokens: 90, total_tokens: 97 }

const about = { id: 'chatcmpl-fault', created: 1_700_000_000 } as const

/** The data of one event in the chat format of OpenAI; `more` adds fields at its top. */
export const chunk = (model: string, delta: object, finish: string | null = null, more: object = {}): string =>
  JSON.stringify({
    ...about,
    object: 'chat.completion.chunk',
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })

/** Comes behind the last word and has no choices, as `stream_options.include_usage` asks for. */
export const usageChunk = (model: string): string =>
  JSON.stringify({ ...about, object: 'chat.completion.chunk', model, choices: [], usage })

/** The body of a call without a stream: always the whole answer, whatever prefix was sent. */
export const completion = (model: string): string =>
  JSON.stringify({
    ...about,
    object: 'chat.completion',
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
export interface WrittenStream {
  /** Rejects when the other side has left. */
  piece(bytes: string | Uint8Array): Promise<void>
  /** The data stand behind `data:` as they are, so a line end in them would break the event. */
  event(data: string): Promise<void>
  /** Writes the last chunk; the socket stays open for the next request. */
  end(): void
  /** Destroys the socket, so that the last chunk never comes. */
  cut(): void
}

/** The head goes out at once: each fault behind it meets an answer that has begun with 200. */
export const streamOn = ({ socket, its }: Line): WrittenStream => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n')
  const piece = async (bytes: string | Uint8Array): Promise<void> => {
    if (socket.destroyed) throw new Error('The other side has left')
    const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    its.sent += data.length
    const framed = Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')])
    if (!socket.write(framed)) await roomIn(socket)
  }
  return {
    piece,
    event: (data) => piece(`data: ${data}\n\n`),
    end: () => void socket.write('0\r\n\r\n'),
    cut: () => void socket.destroy(),
  }
}
