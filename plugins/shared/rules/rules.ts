import * as v from 'valibot'
import { many } from '../../../core/container.ts'
import { lazy } from '../../../core/lazy.ts'
import { plugin } from '../../../core/plugin.ts'
import { Cache } from '../../../core/ports/cache.ts'
import { Log } from '../../../core/ports/platform.ts'
import { section } from '../../../core/ports/section.ts'
import { decisionNeeds } from '../decisions/decision-needs.ts'
import type { RuledChat, RuledModel } from './ruled.ts'

/** Models that are rules, by the names that callers send. */
export interface ModelRules {
  /** The model that serves where nothing is decided; null for a name that no rule has. */
  otherwise(name: string): string | null
  choose(name: string, chat: RuledChat, signal: AbortSignal): Promise<RuledModel>
  readonly names: readonly string[]
}

export const ModelRules = many<ModelRules>('ModelRules')

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
    /** The model where nothing is decided, and where a budget has no room for another. */
    otherwise: v.string(),
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

/** Rules by their names, with every model that they name. */
export const rulesSettings = section('rules', v.optional(v.record(v.string(), rule), {}), {
  models: (rules) =>
    Object.entries(rules).flatMap(([name, { decide, routes, otherwise }]) => [
      [`rules.${name}.decide.with`, decide.with] as const,
      ...routes.map(({ model }, at) => [`rules.${name}.routes.${at}.model`, model] as const),
      [`rules.${name}.otherwise`, otherwise] as const,
    ]),
})

const choosing = lazy(() => import('./choose.ts'))

/** Throws for a rule with the name of a model, and for a rule whose model decides nothing. */
export const modelRules = plugin({
  port: ModelRules,
  name: 'model-rules',
  renewed: true,
  sections: [rulesSettings],
  needs: { ...decisionNeeds, cache: Cache, log: Log },
  create: (given): ModelRules => {
    const rules = new Map(Object.entries(rulesSettings.of(given.settings)))
    for (const [name, { decide }] of rules) {
      if (given.catalog.recall(name) !== null) throw new Error(`rules.${name} is the name of a model`)
      const decider = given.catalog.recall(decide.with)
      if (decider !== null && !decider.does.has('decide'))
        throw new Error(
          `rules.${name}.decide.with is a model that decides nothing; "decide": true makes a chat model decide`,
        )
    }
    return {
      names: [...rules.keys()],
      otherwise: (name) => rules.get(name)?.otherwise ?? null,
      async choose(name, chat, signal) {
        const found = rules.get(name)
        if (found === undefined) throw new Error('No rule has this name')
        return (await choosing()).chosenModel(name, found, chat, given, signal)
      },
    }
  },
})
