import { mayUse } from '../../../core/access/caller.ts'
import type { Supplied } from '../../../core/container.ts'
import { TooMany } from '../../../core/errors.ts'
import { servedModel, unknownModel } from '../../shared/models/find-model.ts'
import type { ModelRules } from '../../shared/rules/rules.ts'
import type { RuledModel } from '../../shared/rules/ruled.ts'
import type { DialectChat } from './dialect-chat.ts'
import type { chatNeeds } from './chat-needs.ts'
import { filteredWordings, firstWording, wordingsOf } from './wordings.ts'

type Needs = Pick<Supplied<typeof chatNeeds>, 'catalog' | 'filters' | 'rules' | 'traces'>
type Headers = Readonly<Record<string, string>>

/** The rule of this name; null where the name stands for a model. Throws NotFound where the key may not use the rule. */
const ruleOf = ({ caller, model }: DialectChat, { catalog, rules }: Pick<Needs, 'catalog' | 'rules'>) => {
  for (const rule of rules) {
    const otherwise = rule.otherwise(model)
    if (otherwise === null) continue
    if (!mayUse(caller, model)) throw unknownModel(catalog, caller, model)
    return { rule, otherwise }
  }
  return null
}

/** The model by which tokens are counted: no count waits for a decision. */
export const countedModel = (talk: DialectChat, given: Pick<Needs, 'catalog' | 'rules'>): string =>
  ruleOf(talk, given)?.otherwise ?? talk.model

/** Begins the chat with the model that its rule chooses; where a budget has no room for that model, with the rule's other one. */
export const begunByRule = async <B extends { readonly headers: Headers }>(
  talk: DialectChat,
  given: Needs,
  signal: AbortSignal,
  begin: (talk: DialectChat) => Promise<B>,
): Promise<B> => {
  const found = ruleOf(talk, given)
  if (found === null) return begin(talk)
  const { otherwise } = found
  const chosen = await choiceOf(talk, found, given, signal)
  const begun = async ({ model, why }: RuledModel): Promise<B> => {
    const call = await begin({ ...talk, model })
    const told = `${printable(model)}; ${why}`
    for (const current of given.traces) current()?.because?.(told)
    return { ...call, headers: { ...call.headers, 'x-sealgate-rule': told } }
  }
  return begun(chosen).catch((error: unknown) => {
    const isDear = error instanceof TooMany && error.code === 'budget_exceeded' && chosen.model !== otherwise
    if (!isDear) throw error
    return begun({ model: otherwise, why: `budget, not ${chosen.why}` })
  })
}

const printable = (text: string): string => text.replace(/[^\x21-\x7e]|;/g, '_')

/** The model that decides sees what guards let through. */
const choiceOf = async (
  talk: DialectChat,
  { rule, otherwise }: { readonly rule: ModelRules; readonly otherwise: string },
  { catalog, filters }: Needs,
  signal: AbortSignal,
): Promise<RuledModel> => {
  const { caller, session, record, model } = talk
  const entry = await servedModel(catalog, caller, otherwise, 'chat', signal)
  const worded = wordingsOf((to) => talk.understand(to, entry.settings))
  const { fit } = await filteredWordings(entry, worded, filters, talk, signal)
  const { body } = firstWording(entry, fit)
  return rule.choose(model, { caller, session, body, ...(record !== undefined && { record }) }, signal)
}
