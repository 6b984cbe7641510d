import type { Chunk, Completion, Message, WireUsage } from '../ports/upstream.ts'

type MutableJson = Record<string, unknown>

interface Choice extends MutableJson {
  index: number
  message: MutableJson
  finish_reason: string | null
}

/** Texts that arrive in pieces. Each chunk repeats any other text whole. */
const growing = new Set([
  'content',
  'reasoning_content',
  'reasoning',
  'thinking',
  'refusal',
  'arguments',
  'transcript',
  'text',
  'summary',
  'data',
  'input',
])

/** One completion of all chunks. Rejects with what the chunks throw. */
export const collectChunks = async (chunks: AsyncIterable<Chunk>): Promise<Completion> => {
  const whole: MutableJson = { id: '', object: 'chat.completion', created: 0, model: '' }
  const choices = new Map<number, Choice>()
  let usage: WireUsage | null | undefined
  for await (const { choices: news, usage: counted, object: _, ...rest } of chunks) {
    merge(whole, rest)
    if (counted != null || usage === undefined) usage = counted
    for (const { index, delta, ...more } of news) {
      let choice = choices.get(index)
      if (!choice) {
        choice = { index, message: { role: 'assistant', content: null }, finish_reason: null }
        choices.set(index, choice)
      }
      merge(choice.message, delta)
      merge(choice, more)
    }
  }
  const made = [...choices.values()].sort((a, b) => a.index - b.index)
  for (const { message } of made)
    if (message['tool_calls']) message['tool_calls'] = ordered(message['tool_calls'] as MutableJson[])
  return { ...whole, choices: made, ...(usage !== undefined && { usage }) } as unknown as Completion
}

const isFields = (value: unknown): value is MutableJson =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Null never replaces a value: some backends repeat the members of a message with null in later chunks.
 * `__proto__` is left out, since a backend must not reach the prototype.
 */
const merge = (into: MutableJson, news: MutableJson): void => {
  for (const name in news) {
    const value = news[name]
    if (value === undefined || name === '__proto__') continue
    const old = Object.hasOwn(into, name) ? into[name] : undefined
    if (value === null) into[name] ??= null
    else if (typeof value === 'string')
      into[name] = typeof old === 'string' && (value === '' || growing.has(name)) ? old + value : value
    else if (Array.isArray(value)) into[name] = join(Array.isArray(old) ? old : [], value, name === 'tool_calls')
    else if (isFields(value)) {
      const fields: MutableJson = isFields(old) ? old : {}
      merge(fields, value)
      into[name] = fields
    } else into[name] = value
  }
}

/** Items that carry an index are pieces of one another; all others stand for themselves. */
const join = (old: unknown[], news: readonly unknown[], pieces: boolean): unknown[] => {
  for (const item of news) {
    const there = isFields(item) ? (whole(old, item, pieces) as MutableJson | undefined) : undefined
    if (there) merge(there, item as MutableJson)
    else if (isFields(item)) {
      const made: MutableJson = {}
      merge(made, item)
      old.push(made)
    } else old.push(item)
  }
  return old
}

/** What the item is a piece of. A backend that leaves the index out of its tool calls tells their ids instead. */
const whole = (old: readonly unknown[], { index, id }: MutableJson, pieces: boolean): unknown => {
  if (typeof index === 'number') return old.find((item) => isFields(item) && item['index'] === index)
  if (!pieces) return undefined
  return id === undefined || id === null ? old.at(-1) : old.find((item) => isFields(item) && item['id'] === id)
}

/** Calls in the order of their indexes, which a whole answer does not show. */
const ordered = (calls: readonly MutableJson[]): MutableJson[] =>
  calls.toSorted((a, b) => Number(a['index'] ?? 0) - Number(b['index'] ?? 0)).map(({ index: _, ...call }) => call)

/** The same answer as a stream: per choice its whole message, then its finish reason; usage last. */
export async function* chunksOfCompletion(completion: Completion): AsyncGenerator<Chunk, undefined> {
  const { choices, usage, ...rest } = completion
  const head = { ...rest, object: 'chat.completion.chunk' }
  for (const { index, message, finish_reason, logprobs, ...more } of choices) {
    const delta = deltaOf(message)
    yield { ...head, choices: [{ index, delta, finish_reason: null, ...(logprobs !== undefined && { logprobs }) }] }
    yield { ...head, choices: [{ index, delta: {}, finish_reason, ...more }] }
  }
  if (usage !== undefined) yield { ...head, choices: [], usage }
}

/** Pieces of calls need an index, which whole calls lack. */
const deltaOf = ({ tool_calls, ...message }: Message): Chunk['choices'][number]['delta'] => ({
  ...(message as MutableJson),
  ...(tool_calls && { tool_calls: tool_calls.map((call, index) => ({ index, ...call })) }),
})
