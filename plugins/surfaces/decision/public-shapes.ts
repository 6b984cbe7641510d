import * as v from 'valibot'
import { sentenceOf } from '../../../core/dialects/sentence.ts'
import type { OrderedJson } from '../../../core/ports/upstream.ts'
import { rendering } from '../shared/dialect-route.ts'
import { ModelName } from '../../../core/dialects/model-name.ts'
import { advice, decisionRequest, escalate, typedAnswer } from './decision-shape.ts'

const image = /^data:image\/(?:png|jpe?g|webp|gif|bmp)(?:;[^;,]{0,100}){0,10};base64,/i

const part = v.variant('type', [
  v.looseObject({ type: v.picklist(['input_text', 'output_text']), text: v.string() }),
  v.looseObject({ type: v.literal('refusal'), refusal: v.string() }),
  v.looseObject({ type: v.literal('input_image'), image_url: v.pipe(v.string(), v.regex(image)) }),
  v.looseObject({ type: v.literal('input_json'), data: v.union([v.looseObject({}), v.array(v.looseObject({}))]) }),
])
const content = v.union([v.string(), v.pipe(v.array(part), v.minLength(1))])
const instructions = v.union([v.string(), v.array(part)])
const name = v.nullish(v.string())
const description = v.nullish(v.string())

const question = v.variant('type', [
  v.looseObject({ type: v.literal('predicate'), name, instructions }),
  v.looseObject({
    ...{ type: v.literal('choice'), name, instructions },
    choices: v.pipe(
      v.array(v.looseObject({ value: v.union([v.string(), v.boolean()]), description })),
      v.minLength(2),
      v.maxLength(255),
    ),
  }),
  v.looseObject({
    ...{ type: v.literal('score'), name, instructions },
    levels: v.pipe(v.array(v.looseObject({ label: v.string(), description })), v.minLength(2), v.maxLength(10)),
  }),
])

const item = v.union([
  v.looseObject({
    type: v.optional(v.literal('message')),
    role: v.picklist(['user', 'developer', 'system', 'assistant']),
    content,
  }),
  v.looseObject({ type: v.literal('function_call'), call_id: v.string(), name: v.string(), arguments: v.string() }),
  v.looseObject({ type: v.literal('custom_tool_call'), call_id: v.string(), name: v.string(), input: v.string() }),
  v.looseObject({
    type: v.picklist(['function_call_output', 'custom_tool_call_output']),
    call_id: v.string(),
    output: content,
  }),
])

/** What the body looks like. `readOpenaiDecision` reads it, since JSON of the caller keeps the order of its keys. */
export const openaiDecisionRequest = v.looseObject({
  model: ModelName,
  input: v.union([v.string(), v.pipe(v.array(item), v.minLength(1))]),
  questions: v.pipe(v.array(question), v.minLength(1), v.maxLength(400)),
  escalate,
}) as unknown as v.GenericSchema<unknown, OrderedJson>

const answered = v.nullable(v.string())
const value = v.union([v.string(), v.boolean()])

/** The answer of the route. */
export const openaiDecisionAnswer = v.object({
  model: v.string(),
  answers: v.array(
    v.variant('type', [
      v.object({ type: v.literal('predicate'), name: answered, probability: v.number(), advice }),
      v.object({
        ...{ type: v.literal('choice'), name: answered, choice: value, confidence: v.number(), advice },
        probabilities: v.array(v.object({ value, probability: v.number() })),
      }),
      v.object({
        ...{ type: v.literal('score'), name: answered, score: v.number(), confidence: v.number(), advice },
        probabilities: v.array(v.object({ label: v.string(), value: v.number(), probability: v.number() })),
      }),
      v.object({ type: v.literal('refusal'), name: answered }),
    ]),
  ),
  usage: v.object({
    input_tokens: v.number(),
    input_tokens_details: v.object({ cached_tokens: v.number(), cache_write_tokens: v.number() }),
    output_tokens: v.number(),
    output_tokens_details: v.object({ reasoning_tokens: v.number() }),
    total_tokens: v.number(),
  }),
})

/** The body of OpenRouter's client, as far as the gateway reads it. */
export const routerDecisionRequest = decisionRequest as unknown as v.GenericSchema<unknown, OrderedJson>

/** The answer in the form of OpenRouter's client. */
export const routerDecisionAnswer = v.object({
  id: v.string(),
  model: v.string(),
  provider: v.optional(v.string()),
  answers: v.record(v.string(), typedAnswer),
  usage: v.object({ input_tokens: v.number(), output_tokens: v.number() }),
})

/** Errors with the status as a code. */
export const asRouter = rendering((error) => ({ error: { code: error.status, message: sentenceOf(error) } }))

/** The schema of such an error in the reference. */
export const routerFaults = {
  default: v.pipe(v.object({ error: v.object({ code: v.number(), message: v.string() }) }), v.title('RouterError')),
}
