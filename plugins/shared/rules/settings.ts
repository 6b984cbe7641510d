import * as v from 'valibot'
import { section } from '../../../core/ports/section.ts'

/** Kinds that the chat itself shows. */
export const shown = ['vision', 'long'] as const

const usual = {
  easy: 'a short or simple request: small talk, a fact, a rewording, a summary, a short text',
  hard: 'a request that needs careful reasoning: mathematics, a proof, a plan, an analysis of many steps',
  code: 'a request about program code: writing, explaining, repairing or testing it',
}

const count = v.pipe(v.number(), v.integer(), v.minValue(1))
const kind = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_-]{0,31}$/, 'a name of lower-case letters, digits and dashes'))

const decide = v.strictObject({
  /** The model that decides. */
  with: v.string(),
  instructions: v.optional(v.string(), 'Which kind of request is this?'),
  /** What each kind means. */
  criteria: v.optional(v.record(kind, v.string()), usual),
  /** The confidence below which nothing is decided. */
  below: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 0),
  /** Ms that the decision may take. */
  patience: v.optional(count, 2_000),
})

const rule = v.pipe(
  v.strictObject({
    decide,
    routes: v.pipe(v.array(v.strictObject({ when: kind, model: v.string() })), v.minLength(1)),
    /** The model where nothing is decided, and where a budget has no room for another; of the last route when absent. */
    otherwise: v.optional(v.string()),
    /** Tokens of a prompt from which a chat is long. */
    long: v.optional(count, 16_000),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const { decide, routes } = dataset.value
    const kinds = [...Object.keys(decide.criteria), ...shown]
    for (const [at, route] of routes.entries()) {
      if (kinds.includes(route.when)) continue
      const path = [
        { type: 'object', origin: 'value', input: dataset.value, key: 'routes', value: routes },
        { type: 'array', origin: 'value', input: routes, key: at, value: route },
        { type: 'object', origin: 'value', input: route, key: 'when', value: route.when },
      ] as const
      addIssue({ message: 'No such kind', expected: `one of ${kinds.join(', ')}`, path: [...path] as never })
    }
  }),
)

/** A rule as an operator writes it. */
export type RuleInput = v.InferInput<typeof rule>
/** A rule after the check. */
export type WrittenRule = v.InferOutput<typeof rule>

/** Rules stand among the models, and every model that they name is checked. */
export const rulesSettings = section('rules', v.optional(v.record(v.string(), rule), {}), {
  row: { member: 'routes', shape: rule },
  models: (rules) =>
    Object.entries(rules).flatMap(([name, { decide, routes, otherwise }]) => [
      [`models.${name}.decide.with`, decide.with] as const,
      ...routes.map(({ model }, at) => [`models.${name}.routes.${at}.model`, model] as const),
      [`models.${name}.otherwise`, otherwise] as const,
    ]),
})
