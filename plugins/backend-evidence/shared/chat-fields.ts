import { BadRequest } from '../../../core/errors.ts'
import type { Change } from './field-cipher.ts'

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])

/** Names of members with what each becomes. A name that is absent here is left to `other`. */
type Plan = Readonly<Record<string, (value: unknown, name: string) => unknown>>

const planned = (value: unknown, plan: Plan, other: (name: string) => void): Fields => {
  const made: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(fieldsOf(value))) {
    const step = Object.hasOwn(plan, name) ? plan[name] : undefined
    if (step === undefined) other(name)
    else made[name] = member === null ? null : step(member, name)
  }
  return made
}

const refused = (name: string): never => {
  throw new BadRequest('Validation failed', {
    validator: { [name]: 'The backend of this model takes no such value sealed' },
  })
}

/** A word of the format, such as a role. It goes in the clear, so that nothing else may. */
const word = (value: unknown, name: string): unknown =>
  typeof value === 'string' && /^[\w./:-]{1,128}$/.test(value) ? value : refused(name)

const figure = (value: unknown, name: string): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? value : refused(name)

const figures = ['temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'n', 'seed', 'stream'] as const
const more = ['presence_penalty', 'frequency_penalty', 'parallel_tool_calls'] as const

/**
 * The body of a chat with every text sealed. Throws for a member that the protocol seals nowhere, and which could hold
 * words of a user.
 */
export const sealedChat = (body: unknown, seal: Change): Fields => {
  const text = (value: unknown, name: string) => (typeof value === 'string' ? seal(value) : refused(name))
  const json = (value: unknown) => seal(JSON.stringify(value))
  const content = (value: unknown) => (typeof value === 'string' ? seal(value) : json(value))
  const called: Plan = { name: text, arguments: text }
  const call = (value: unknown) =>
    planned(value, { id: word, type: word, function: (call) => planned(call, called, refused) }, refused)
  const message: Plan = {
    ...{ role: word, tool_call_id: word, content, reasoning_content: text, reasoning: text, refusal: text, name: text },
    tool_calls: (value) => listOf(value).map(call),
    function_call: (value) => planned(value, called, refused),
    audio: (value) => planned(value, { data: text }, refused),
  }
  const declared: Plan = { name: text, description: text, parameters: json, strict: figure }
  const tool: Plan = { type: word, function: (value) => planned(value, declared, refused) }
  const choice = (value: unknown) =>
    typeof value === 'string'
      ? word(value, 'tool_choice')
      : planned(value, { type: word, function: (choice) => planned(choice, { name: text }, refused) }, refused)
  const plan: Plan = {
    ...Object.fromEntries([...figures, ...more].map((name) => [name, figure])),
    ...{ model: word, reasoning_effort: word, tool_choice: choice },
    stream_options: (value) => planned(value, { include_usage: figure }, refused),
    messages: (value) => listOf(value).map((item) => planned(item, message, refused)),
    tools: (value) => listOf(value).map((item) => planned(item, tool, refused)),
  }
  return planned(body, plan, refused)
}

const same = (value: unknown): unknown => value
const dropped = (): void => undefined

/** The answer to a chat, or a piece of it, with every text opened. Throws for a text that is not sealed; other members go. */
export const openedChat = (answer: unknown, open: Change): Fields => {
  const text = (value: unknown) => {
    if (typeof value !== 'string') throw new Error('A text is not sealed')
    return open(value)
  }
  const called: Plan = { name: text, arguments: text }
  const call: Plan = { id: same, type: same, index: same, function: (call) => planned(call, called, dropped) }
  const message: Plan = {
    ...{ role: same, content: text, reasoning_content: text, reasoning: text, refusal: text },
    tool_calls: (value) => listOf(value).map((item) => planned(item, call, dropped)),
    function_call: (value) => planned(value, called, dropped),
    audio: (value) => planned(value, { data: text }, dropped),
  }
  const messageOfAnswer = (value: unknown) => planned(value, message, dropped)
  const choice: Plan = { index: same, finish_reason: same, message: messageOfAnswer, delta: messageOfAnswer }
  const plan: Plan = {
    ...Object.fromEntries(['id', 'object', 'created', 'model', 'usage'].map((name) => [name, same])),
    choices: (value) => listOf(value).map((item) => planned(item, choice, dropped)),
  }
  return planned(answer, plan, dropped)
}
