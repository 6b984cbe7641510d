import { fieldsBeyondContent } from '../../../shared/dialects/generate-content/unsupported-fields.ts'
import type { ChatCall } from '../../../../core/ports/upstream.ts'
import { allowedTools } from '../allowed-tools.ts'
import { conversationOf } from './generate-content-turns.ts'
import type { JsonObject } from '../../../../core/dialects/json-object.ts'

/** What models of one generation understand. */
export interface Generation {
  /** The effort of thinking is a budget of tokens, or a level. */
  readonly thinks: 'never' | 'budget' | 'level'
  /** The budget, or level, of a model that shall not think. */
  readonly least: number | string
}

/** Theirs by ours. */
const config: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  n: 'candidateCount',
  max_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
}

/** In tokens, by the effort. */
const budgets: Readonly<Record<string, number>> = { minimal: 1024, low: 1024, medium: 8192, high: 24_576 }
const levels: Readonly<Record<string, string>> = {
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/** Gemini's names of tiers where they differ. */
const tiers: Readonly<Record<string, string>> = { default: 'standard' }

/** The request in Gemini's format; a native request stays as it is. Throws BadRequest for fields that the format lacks. */
export const generateBody = ({ body, native }: ChatCall, generation: Generation): JsonObject => {
  if (native?.dialect === 'generate-content') return native.body
  const {
    messages,
    stop,
    tools: _tools,
    tool_choice: _choice,
    response_format,
    reasoning_effort,
    logprobs,
    top_logprobs,
    modalities,
    service_tier,
    generationConfig: own,
    ...others
  } = body
  const { tools, tool_choice } = allowedTools(body)
  const { system, contents } = conversationOf(messages, generation.thinks === 'level')
  const chosen: Record<string, unknown> = {}
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(others)) {
    const theirs = (Object.hasOwn(config, name) ? config[name] : null) ?? null
    if (theirs !== null) {
      if (value != null) chosen[theirs] = value
    } else if (!fieldsBeyondContent.has(name)) rest[name] = value
  }
  Object.assign(
    chosen,
    stop != null && { stopSequences: Array.isArray(stop) ? stop : [stop] },
    formatOf(response_format),
    logprobs === true && { responseLogprobs: true, ...(Number(top_logprobs) > 0 && { logprobs: top_logprobs }) },
    Array.isArray(modalities) && { responseModalities: modalities.map((modality) => String(modality).toUpperCase()) },
    thoughtsOf(reasoning_effort, generation),
    own,
  )
  const offered = toolsOf((tools ?? []) as readonly JsonObject[])
  return {
    ...rest,
    contents,
    ...(system && { systemInstruction: system }),
    ...(offered.length > 0 && { tools: offered }),
    ...(tool_choice != null && { toolConfig: choiceOf(tool_choice) }),
    ...(typeof service_tier === 'string' &&
      service_tier !== 'auto' && { serviceTier: tiers[service_tier] ?? service_tier }),
    ...(Object.keys(chosen).length > 0 && { generationConfig: chosen }),
  }
}

const formatOf = (format: unknown): JsonObject => {
  const { type, json_schema } = (format ?? {}) as { type?: string; json_schema?: { schema?: unknown } }
  if (type !== 'json_schema' && type !== 'json_object') return {}
  const schema = type === 'json_schema' ? json_schema?.schema : undefined
  return { responseMimeType: 'application/json', ...(schema !== undefined && { responseJsonSchema: schema }) }
}

/** Empty when the caller names no effort or the model never thinks. */
const thoughtsOf = (effort: unknown, { thinks, least }: Generation): JsonObject => {
  if (typeof effort !== 'string' || thinks === 'never') return {}
  const includeThoughts = effort !== 'none'
  if (thinks === 'level') return { thinkingConfig: { includeThoughts, thinkingLevel: levels[effort] ?? least } }
  const budget = includeThoughts ? (budgets[effort] ?? budgets['high']) : least
  return { thinkingConfig: { includeThoughts, thinkingBudget: budget } }
}

/** All functions stand in one tool. Gemini's own tools follow unchanged. */
const toolsOf = (tools: readonly JsonObject[]): readonly JsonObject[] => {
  const others: JsonObject[] = []
  const functionDeclarations: JsonObject[] = []
  for (const tool of tools) {
    const { name, description, parameters } = (tool['function'] ?? {}) as JsonObject
    if (tool['type'] !== 'function') others.push(tool)
    else {
      functionDeclarations.push({
        name,
        ...(description != null && { description }),
        ...(parameters != null && { parametersJsonSchema: parameters }),
      })
    }
  }
  return functionDeclarations.length > 0 ? [{ functionDeclarations }, ...others] : others
}

const modes: Readonly<Record<string, string>> = { auto: 'AUTO', none: 'NONE', required: 'ANY' }

/** A choice in Gemini's own form passes unchanged. */
const choiceOf = (choice: unknown): JsonObject => {
  if (typeof choice === 'string') return { functionCallingConfig: { mode: modes[choice] ?? choice } }
  const { type, function: named } = choice as { type?: string; function?: { name?: string } }
  if (type !== 'function') return choice as JsonObject
  return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [named?.name] } }
}
