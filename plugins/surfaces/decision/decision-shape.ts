import * as v from 'valibot'
import { ModelName } from '../../../core/dialects/model-name.ts'
import { type DecisionRequest, mostEscalations } from '../../shared/decisions/typed-decision.ts'
import { modelEntry } from '../shared/model-entry.ts'
import { provider } from '../shared/provider-field.ts'

const described = v.union([v.string(), v.record(v.string(), v.unknown()), v.array(v.unknown()), v.null()])
const instructions = v.optional(described, null)
const countUpTo = (count: number) => v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(count)))
const one = (pattern: RegExp) => v.nullish(v.pipe(v.array(v.pipe(v.string(), v.regex(pattern))), v.maxLength(1)))

/** Who is asked again about answers that are not sure. */
export const escalate = v.nullish(
  v.union([
    v.literal(false),
    v.looseObject({
      below: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
      to: ModelName,
      most: countUpTo(mostEscalations),
    }),
  ]),
)

const question = v.variant('type', [
  v.looseObject({ type: v.literal('choice'), instructions, criteria: v.record(v.string(), described) }),
  v.looseObject({
    type: v.literal('noul'),
    instructions,
    criteria: v.nullish(v.object({ true: v.optional(described), false: v.optional(described) })),
  }),
  v.looseObject({
    type: v.literal('score'),
    instructions,
    criteria: v.pipe(v.array(described), v.minLength(2), v.maxLength(10)),
  }),
])

/** What the body looks like. `parseDecision` reads it, since here the order of keys matters and has no place in a schema. */
export const decisionRequest = v.looseObject({
  model: ModelName,
  state: v.unknown(),
  questions: v.record(v.string(), question),
  images: one(/^data:image\/(?:png|jpe?g|webp|gif|bmp)(?:;[^;,]{0,100}){0,10};base64,/i),
  videos: one(/^data:video\/mp4;base64,/),
  samples: countUpTo(32),
  steps: countUpTo(8),
  provider,
  escalate,
}) as unknown as v.GenericSchema<unknown, DecisionRequest>

const probabilities = v.record(v.string(), v.number())
export const advice = v.optional(v.picklist(['act', 'ask']))

export const typedAnswer = v.variant('type', [
  v.object({ type: v.literal('choice'), choice: v.string(), probabilities, confidence: v.number(), advice }),
  v.object({ type: v.literal('noul'), noul: v.number(), advice }),
  v.object({
    type: v.literal('score'),
    score: v.number(),
    legend: v.record(v.string(), described),
    probabilities,
    confidence: v.number(),
    advice,
  }),
])

/** The answer of either route. They differ in the member of their diagnostics alone. */
export const decisionAnswer = (under: 'diagnostics' | 'x_diagnostics') =>
  v.object({
    model: v.string(),
    answers: v.record(v.string(), typedAnswer),
    usage: v.object({ input_tokens: v.number(), output_tokens: v.number() }),
    [under]: v.looseObject({}),
  })

/** Errors as System-One clients know them; 422 is for a body that is not as expected. */
export const systemOneFaults = {
  default: v.pipe(
    v.object({ detail: v.object({ error_type: v.string(), message: v.string() }) }),
    v.title('SystemOneError'),
  ),
  422: v.pipe(
    v.object({ detail: v.array(v.object({ loc: v.array(v.string()), msg: v.string(), type: v.string() })) }),
    v.title('SystemOneFaults'),
  ),
}

/** The list for both kinds of clients: `data` in the common form, `models` in that of System-One. */
export const decisionModels = v.object({
  object: v.literal('list'),
  data: v.array(v.object({ ...modelEntry.entries, type: v.picklist(['CHAT', 'DECISION']) })),
  models: v.array(v.object({ name: v.string(), description: v.string(), release_date: v.string() })),
})
