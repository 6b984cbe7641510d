import type { Socket } from 'node:net'
import { onDrain } from '../production/network/on-drain.ts'

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
  readonly seen: Seen
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

/** What the backend reads from the body of a call. */
export interface Asking {
  /** The text of the last user message. */
  readonly conversation: string
  /** Text that the answer goes on from. */
  readonly prefix: string
  /** The caller wants the count of tokens in a chunk of its own, behind the last word. */
  readonly includeUsage: boolean
}

/** How a backend is asked in one dialect, and words its answer there: the data of events, and whole bodies. */
export interface Wording {
  readonly path: string
  asking(body: never): Asking
  begin(model: string): readonly string[]
  /** `more` adds fields at the top of the event. */
  word(model: string, text: string, more?: object): string
  /** Behind the words, with the end mark. */
  end(model: string, text: string, finish: string, includeUsage: boolean): readonly string[]
  /** The body of a call without a stream: always the whole answer, whatever prefix was sent. */
  whole(model: string): string
  readonly failed: string
}

const usage = { prompt_tokens: 7, completion_tokens: 90, total_tokens: 97 }

const about = { id: 'chatcmpl-fault', created: 1_700_000_000 } as const

const chunk = (model: string, delta: object, finish: string | null = null, more: object = {}): string =>
  JSON.stringify({
    ...about,
    object: 'chat.completion.chunk',
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })

interface ChatBody {
  readonly stream_options?: { readonly include_usage?: boolean }
  readonly messages: readonly {
    readonly role: string
    readonly content: string | readonly { readonly text: string }[]
  }[]
}

/** The chat format of OpenAI. */
export const chatWording: Wording = {
  path: '/chat/completions',
  /** An assistant message at the end of the list is the prefix from which the backend must go on. */
  asking({ messages, stream_options }: ChatBody) {
    const content = messages.findLast(({ role }) => role === 'user')?.content ?? ''
    const last = messages.at(-1)
    return {
      conversation: typeof content === 'string' ? content : (content[0]?.text ?? ''),
      prefix: last?.role === 'assistant' && typeof last.content === 'string' ? last.content : '',
      includeUsage: stream_options?.include_usage === true,
    }
  },
  begin: (model) => [chunk(model, { role: 'assistant', content: '' })],
  word: (model, content, more) => chunk(model, { content }, null, more),
  end: (model, _, finish, includeUsage) => [
    chunk(model, {}, finish),
    ...(includeUsage ? [JSON.stringify({ ...about, object: 'chat.completion.chunk', model, choices: [], usage })] : []),
    '[DONE]',
  ],
  whole: (model) =>
    JSON.stringify({
      ...about,
      object: 'chat.completion',
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }],
      usage,
    }),
  failed: failure,
}

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
export const streamOn = ({ socket, seen }: Line): WrittenStream => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n')
  const piece = async (bytes: string | Uint8Array): Promise<void> => {
    if (socket.destroyed) throw new Error('The other side has left')
    const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    seen.sent += data.length
    const framed = Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')])
    if (!socket.write(framed)) await onDrain(socket)
  }
  return {
    piece,
    event: (data) => piece(`data: ${data}\n\n`),
    end: () => void socket.write('0\r\n\r\n'),
    cut: () => void socket.destroy(),
  }
}
