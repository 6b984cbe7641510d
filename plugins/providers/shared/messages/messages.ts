import { fieldsBeyondMessages } from '../../../shared/dialects/messages/unsupported-fields.ts'
import { BadRequest } from '../../../../core/errors.ts'
import type { ChatBody, ChatCall } from '../../../../core/ports/upstream.ts'
import { allowedTools } from '../allowed-tools.ts'
import { closed } from './closed-schema.ts'
import { conversationOf, type Conversation, type Turn } from './messages-turns.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'

/** What models of one generation understand. */
export interface Generation {
  /** Thoughts are asked for by a budget of tokens, or by an effort. */
  readonly thinks: 'never' | 'budget' | 'effort'
  /** A schema for the answer; else it is asked for as the arguments of a tool. */
  readonly formats: boolean
  /** A call of a tool can be made a must. */
  readonly forces: boolean
  /** Temperature and its like, which newer ones refuse. */
  readonly samples: boolean
  /** Temperature and `top_p` beside each other. */
  readonly both: boolean
  /** Tokens of an answer when the caller names no limit: they want one always. */
  readonly maxTokens: number
}

/** What has to be known of the request when its answer is read. */
export interface Asked {
  readonly model: string
  /** The answer comes as the arguments of this tool. */
  readonly tool: string | null
  /** White space at the end of the prefix that could not be sent: the answer may begin with it. */
  readonly overlap: string
  /** The request was the caller's own: its events go on as they come. */
  readonly native?: true
}

const tiers: Readonly<Record<string, string>> = { default: 'standard_only', flex: 'standard_only', priority: 'auto' }

const efforts: Readonly<Record<string, string>> = { none: 'low', minimal: 'low' }

/** Thoughts may take this share of all tokens. */
const shares: Readonly<Record<string, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.9,
}
/** In tokens: the least that Anthropic takes as a budget of thoughts. */
const leastThinkingTokens = 1024
/** In tokens: the largest budget of thoughts that an effort becomes. */
const mostTokens = 32_000

/** The tool whose arguments are the answer. */
const jsonTool = 'json_answer'

interface WordedRequest {
  readonly body: JsonObject
  readonly request: Asked
}

/** The request in Anthropic's format; a native request stays as it is. Throws BadRequest for fields that the format lacks. */
export const messagesBody = (call: ChatCall, generation: Generation): WordedRequest => {
  const { model, stream, native } = call
  if (native?.dialect !== 'messages') return worded(call, generation)
  const body = { ...native.body, model, ...(stream && { stream }) }
  return { body, request: { model, tool: null, overlap: '', native: true } }
}

const worded = ({ model, body, stream, prefix }: ChatCall, generation: Generation): WordedRequest => {
  const { max_tokens, max_completion_tokens, parallel_tool_calls, response_format, output_config } = body
  const { tools, tool_choice } = allowedTools(body)
  if (typeof body['n'] === 'number' && body['n'] > 1) throw new BadRequest('The model gives one answer at a time')

  const limit = (max_completion_tokens ?? max_tokens ?? generation.maxTokens) as number
  const { system, turns } = conversationOf(body.messages)
  const wanted = formatOf(response_format)
  const choice = choiceOf(tool_choice)
  const byTool =
    wanted !== null && !forces(choice) && (wanted.schema === null ? generation.forces : !generation.formats)
  const instructions = wanted?.schema === null && !byTool ? instructed(system) : system
  const offered = toolsOf(tools)
  const chosen = byTool ? jsonChoice(offered, choice) : parallel(offered, choice, parallel_tool_calls)
  const thoughts = thoughtsOf(body, generation, limit, forces(chosen), turns, prefix !== undefined)
  const output = {
    ...(thoughts.effort !== undefined && { effort: thoughts.effort }),
    ...(wanted?.schema && !byTool && { format: { type: 'json_schema', schema: closed(wanted.schema) } }),
    ...(output_config as JsonObject | undefined),
  }
  const sampled = samples(generation, body, thoughts)
  const begun = prefix?.trimEnd() ?? ''

  return {
    body: {
      ...passed(body),
      model,
      max_tokens: limit,
      messages: begun === '' ? turns : [...turns, { role: 'assistant', content: [{ type: 'text', text: begun }] }],
      ...(instructions !== undefined && { system: instructions }),
      ...(stream && { stream }),
      ...(sampled && sampling(body, leftOut(generation, body))),
      ...(thoughts.thinking !== undefined && { thinking: thoughts.thinking }),
      ...(Object.keys(output).length > 0 && { output_config: output }),
      ...((offered.length > 0 || byTool) && { tools: byTool ? [...offered, answering(wanted.schema)] : offered }),
      ...(chosen && { tool_choice: chosen }),
      ...plainFields(body),
    },
    request: { model, tool: byTool ? jsonTool : null, overlap: prefix?.slice(begun.length) ?? '' },
  }
}

/** Newer models refuse fields of sampling, and older ones refuse them while they think. */
const samples = (generation: Generation, { thinking }: ChatBody, thoughts: { readonly thinking?: unknown }): boolean =>
  generation.samples && (thinking != null || thoughts.thinking === undefined)

const fieldsOfSampling: ReadonlySet<string> = new Set(['temperature', 'top_p', 'top_k'])
const none: ReadonlySet<string> = new Set()

/** The fields of sampling, where the model would refuse them beside what else the request asks. None of a request that it refuses as a whole. */
export const unsampled = (generation: Generation, body: ChatBody = { messages: [] }): ReadonlySet<string> => {
  if ([...fieldsOfSampling].every((name) => body[name] == null)) return none
  try {
    return unsampledIn(generation, body)
  } catch (error) {
    // The model's own backend says so, and only when it is asked: another one may answer.
    if (error instanceof BadRequest) return none
    throw error
  }
}

const unsampledIn = (generation: Generation, body: ChatBody): ReadonlySet<string> => {
  const limit = (body['max_completion_tokens'] ?? body['max_tokens'] ?? generation.maxTokens) as number
  const { tool_choice } = allowedTools(body)
  const { turns } = conversationOf(body.messages)
  const thoughts = thoughtsOf(body, generation, limit, forces(choiceOf(tool_choice)), turns, false)
  if (!samples(generation, body, thoughts)) return fieldsOfSampling
  const left = leftOut(generation, body)
  return left === null ? none : new Set([left])
}

/** The one of two fields that a model takes in place of each other alone; a temperature of 1 is the usual one. */
const leftOut = ({ both }: Generation, { temperature, top_p }: ChatBody): 'temperature' | 'top_p' | null => {
  if (both || temperature == null || top_p == null) return null
  return temperature === 1 ? 'temperature' : 'top_p'
}

/** Fields that have another name or form in Anthropic's format. */
const translated: ReadonlySet<string> = new Set([
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'thinking',
  'output_config',
  'user',
  'metadata',
  'service_tier',
])

const passed = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !translated.has(name) && !fieldsBeyondMessages.has(name)))

const sampling = ({ temperature, top_p, top_k }: ChatBody, left: 'temperature' | 'top_p' | null): JsonObject => ({
  // Theirs ends at 1.
  ...(typeof temperature === 'number' && left !== 'temperature' && { temperature: Math.min(temperature, 1) }),
  ...(top_p != null && left !== 'top_p' && { top_p }),
  ...(top_k != null && { top_k }),
})

/** Fields that depend on no others. */
const plainFields = ({ stop, user, metadata, service_tier }: ChatBody): JsonObject => {
  const userId = user ?? (metadata as JsonObject | null | undefined)?.['user_id']
  return {
    ...(stop != null && { stop_sequences: Array.isArray(stop) ? stop : [stop] }),
    ...(typeof userId === 'string' && { metadata: { user_id: userId } }),
    ...(typeof service_tier === 'string' && { service_tier: tiers[service_tier] ?? service_tier }),
  }
}

/** Null for free text. A null schema means any JSON object. */
const formatOf = (format: unknown): { readonly schema: JsonObject | null } | null => {
  const { type, json_schema } = (format ?? {}) as { type?: string; json_schema?: { schema?: JsonObject } }
  if (type === 'json_schema') return { schema: json_schema?.schema ?? null }
  return type === 'json_object' ? { schema: null } : null
}

const instructed = (system: Conversation['system']): Conversation['system'] => {
  const text = 'Answer with one JSON object and nothing else.'
  if (system === undefined) return text
  return typeof system === 'string' ? `${system}\n${text}` : [...system, { type: 'text', text }]
}

const answering = (schema: JsonObject | null): JsonObject => ({
  name: jsonTool,
  description: 'Gives the whole answer as one JSON object, in the form that the conversation asks for.',
  input_schema: schema ?? { type: 'object', additionalProperties: true },
})

const toolsOf = (tools: ChatBody['tools']): readonly JsonObject[] =>
  ((tools ?? []) as readonly JsonObject[]).map((tool) => {
    const { type, function: declared, ...rest } = tool
    if (type !== 'function' || typeof declared !== 'object' || declared === null) return tool
    const { name, description, parameters, strict } = declared as JsonObject
    return {
      ...rest,
      name,
      ...(description != null && { description }),
      input_schema: parameters ?? { type: 'object', properties: {} },
      ...(strict === true && { strict }),
    }
  })

const choices: Readonly<Record<string, string>> = { auto: 'auto', none: 'none', required: 'any' }

const choiceOf = (choice: unknown): JsonObject | null => {
  if (choice == null) return null
  if (typeof choice === 'string') return { type: choices[choice] ?? choice }
  const { type, function: named } = choice as { type?: string; function?: { name?: string } }
  return type === 'function' ? { type: 'tool', name: named?.name } : (choice as JsonObject)
}

const forces = (choice: JsonObject | null): boolean => choice?.['type'] === 'any' || choice?.['type'] === 'tool'

/** Beside other tools the model may choose, but must call one of them. */
const jsonChoice = (tools: readonly JsonObject[], choice: JsonObject | null): JsonObject =>
  tools.length > 0 && choice?.['type'] !== 'none' ? { type: 'any' } : { type: 'tool', name: jsonTool }

/** Only an explicit false forbids parallel calls. */
const parallel = (tools: readonly JsonObject[], choice: JsonObject | null, allowed: unknown): JsonObject | null =>
  allowed === false && tools.length > 0 && choice?.['type'] !== 'none'
    ? { type: 'auto', ...choice, disable_parallel_tool_use: true }
    : choice

/** Empty when thoughts are unwanted, or impossible beside what else the request asks. */
const thoughtsOf = (
  { thinking, reasoning_effort: effort }: ChatBody,
  { thinks }: Generation,
  limit: number,
  forced: boolean,
  turns: readonly Turn[],
  continues: boolean,
): { readonly thinking?: unknown; readonly effort?: string } => {
  // Behind a prefix it is too late for thoughts.
  if (continues) return {}
  if (thinking != null) return { thinking }
  if (typeof effort !== 'string' || thinks === 'never') return {}
  if (thinks === 'effort') {
    const how = efforts[effort] ?? effort
    // A forced call leaves no room for thoughts.
    return effort === 'none' || forced
      ? { effort: how }
      : { thinking: { type: 'adaptive', display: 'summarized' }, effort: how }
  }
  const budget = Math.max(leastThinkingTokens, Math.min(mostTokens, Math.floor(limit * (shares[effort] ?? 0))))
  if (shares[effort] === undefined || budget >= limit || forced || lostThoughts(turns)) return {}
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

/** They refuse to think on behind a call of a tool whose thoughts the caller has not given back. */
const lostThoughts = (turns: readonly Turn[]): boolean => {
  const last = turns.findLast(({ role }) => role === 'assistant')
  const has = (kind: RegExp) => last?.content.some(({ type }) => kind.test(String(type))) ?? false
  return has(/^tool_use$/) && !has(/thinking$/)
}
