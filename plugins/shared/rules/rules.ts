import { many } from '../../../core/container.ts'
import { lazy, plugin } from '../../../core/plugin.ts'
import { Cache } from '../../../core/ports/cache.ts'
import { Log } from '../../../core/ports/platform.ts'
import { decisionNeeds } from '../decisions/decision-needs.ts'
import type { Rule, RuledChat, RuledModel } from './ruled.ts'
import { type WrittenRule, rulesSettings } from './settings.ts'

/** Models that are rules, by the names that callers send. */
export interface ModelRules {
  /** The model that serves where nothing is decided; null for a name that no rule has. */
  otherwise(name: string): string | null
  choose(name: string, chat: RuledChat, signal: AbortSignal): Promise<RuledModel>
  readonly names: readonly string[]
}

export const ModelRules = many<ModelRules>('ModelRules')

const wholeRule = (given: WrittenRule): Rule => ({
  ...given,
  otherwise: given.otherwise ?? given.routes.at(-1)!.model,
})

const choosing = lazy(() => import('./choose.ts'))

/** Throws for a rule whose model decides nothing. */
export const modelRules = plugin({
  port: ModelRules,
  name: 'model-rules',
  renewed: true,
  sections: [rulesSettings],
  needs: { ...decisionNeeds, cache: Cache, log: Log },
  create: (given): ModelRules => {
    const rules = new Map(
      Object.entries(rulesSettings.of(given.settings)).map(([name, rule]) => [name, wholeRule(rule)]),
    )
    for (const [name, { decide }] of rules) {
      const decider = given.catalog.recall(decide.with)
      if (decider !== null && !decider.does.has('decide'))
        throw new Error(
          `models.${name}.decide.with is a model that decides nothing; "decide": true makes a chat model decide`,
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
