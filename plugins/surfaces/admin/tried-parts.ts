import * as v from 'valibot'
import { listOf } from '../../../core/validate.ts'

/** Backends that an address and a key describe whole. Every other kind reads files or variables of the machine. */
export const triedKinds = [
  ...(['anthropic', 'azure', 'cohere', 'deepseek', 'fireworks', 'gemini', 'groq', 'mistral'] as const),
  ...(['ollama', 'openai', 'openrouter', 'sglang', 'together', 'vllm', 'xai'] as const),
] as const

/** A `$` would put a variable of the gateway into the parts that are tried. */
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(256), v.regex(/^[^$]/, 'a name and no variable'))
/** Models, backends, or settings of a guard in one trial: the time of a trial grows with them. */
const mostParts = 256

const amount = v.optional(v.pipe(v.number(), v.finite('a finite number'), v.minValue(0)))

const link = v.strictObject({
  provider: name,
  model: v.optional(name),
  weight: amount,
  priority: amount,
  context_tokens: amount,
})

const provider = v.strictObject({
  use: v.picklist(triedKinds),
  baseUrl: v.optional(v.pipe(v.string(), v.maxLength(2_048), v.regex(/^https?:\/\//, 'an address'))),
  apiKey: v.optional(v.pipe(v.string(), v.regex(/^\$[A-Z][A-Z0-9_]{0,63}$/, 'a variable, as $NAME'))),
})

const isVariable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(isVariable)
    : typeof value === 'string' && /^\$[A-Za-z_]\w*$/.test(value)

const settings = v.pipe(
  v.record(v.string(), v.unknown()),
  v.maxEntries(mostParts),
  v.check((given) => !isVariable(given), 'settings without a variable'),
)

/** What a trial takes: no variable of the gateway is read for a part of it. */
export const triedParts = v.strictObject({
  models: v.optional(
    v.pipe(v.record(name, v.strictObject({ upstreams: listOf(link, 1, 100) })), v.maxEntries(mostParts)),
    {},
  ),
  providers: v.optional(
    v.pipe(v.record(v.pipe(name, v.regex(/^[\w.-]{1,256}$/, 'a plain name')), provider), v.maxEntries(mostParts)),
    {},
  ),
  guards: v.optional(v.strictObject({ redact: v.optional(settings), words: v.optional(settings) }), {}),
  secrets: v.optional(
    v.record(
      v.pipe(v.string(), v.regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'the name of a variable')),
      v.pipe(v.string(), v.minLength(1), v.maxLength(4_096)),
    ),
    {},
  ),
  call: v.optional(name),
})
