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
  /** In the words of the common format. */
  finish: string | null
  /** The end mark of a stream, or a whole body. */
  done: boolean
  /** The error told in the body or in the stream. */
  error: string | null
  /** The last event of a stream; null when none came. */
  last: unknown
  /** An event that is no JSON. */
  garbled: boolean
  /** Ms until the next try, as a refusal tells; null where none does. */
  retryAfter: number | null
  /** The connection broke instead of ending. */
  broken: boolean
  raw: string
}

/** How a caller of one door asks, and how it reads the answer. */
export interface Tongue {
  readonly name: string
  /** In front of the path, behind the address. */
  readonly under: string
  path(model: string, stream: boolean): string
  body(model: string, conversation: string, stream: boolean): object
  /** One event of a stream. */
  event(value: unknown, sight: Sight): void
  /** A whole answer. */
  whole(value: unknown, sight: Sight): void
  /** Whether the event tells of a break as the dialect does. */
  breaks(event: unknown): boolean
}

interface ChatEvent {
  readonly model: string
  readonly choices: readonly {
    readonly delta: { readonly content?: string | null }
    readonly finish_reason: string | null
  }[]
}

interface ChatCompletion {
  readonly model: string
  readonly choices: readonly {
    readonly message: { readonly content: string }
    readonly finish_reason: string
  }[]
}

const isBreak = (value: unknown): boolean => {
  const { error } = (value ?? {}) as { readonly error?: Readonly<Record<string, unknown>> }
  return error !== undefined && typeof error['message'] === 'string' && 'code' in error
}

/** Chat completions on the standard route. A field that is missing throws, and fails the scene. */
export const chat: Tongue = {
  name: 'chat completions',
  under: '/std',
  path: () => '/chat/completions',
  body: (model, conversation, stream) => ({ model, stream, messages: [{ role: 'user', content: conversation }] }),
  event(value, sight) {
    const { model, choices } = value as ChatEvent
    sight.models.add(model)
    for (const { delta, finish_reason } of choices) {
      sight.text += delta.content ?? ''
      sight.finish = finish_reason ?? sight.finish
    }
  },
  whole(value, sight) {
    const { model, choices } = value as ChatCompletion
    sight.models.add(model)
    for (const { message, finish_reason } of choices) {
      sight.text += message.content
      sight.finish = finish_reason
    }
  },
  breaks: isBreak,
}
