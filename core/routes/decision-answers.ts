import { mayUse, type Caller } from '../access/caller.ts'
import type { DecisionRequest } from '../dialects/typed-decision.ts'
import { printAnswered } from '../dialects/typed-decision-answer.ts'
import { json, type Reply } from '../http/reply.ts'
import type { Request } from '../http/route.ts'
import type { Catalog } from '../inference/models/catalog.ts'
import { decides, decisionFor } from '../inference/decisions/decide-for-caller.ts'
import type { CallerDecisionNeeds } from '../inference/decisions/decision-needs.ts'
import { catalogEntryOf } from '../inference/models/listing.ts'

/** The answers to typed questions, with their diagnostics under this name. */
export const answerDecision = async (
  { input, caller, signal }: Request<DecisionRequest, unknown, Caller>,
  given: CallerDecisionNeeds,
  under: 'diagnostics' | 'x_diagnostics',
): Promise<Reply> => {
  const decided = await decisionFor(input, caller, given, signal)
  return json(printAnswered(decided, under), 200, decided.headers)
}

/** The models that decide for the caller. */
export const listDeciders = async (
  { caller, signal }: Request<unknown, unknown, Caller>,
  { catalog }: { readonly catalog: Catalog },
): Promise<Reply> => {
  const entries = (await catalog.list(signal)).filter((entry) => decides(entry) && mayUse(caller, entry.name))
  return json({
    object: 'list',
    data: entries.map((entry) => catalogEntryOf(entry, 'standard')),
    models: entries.map(({ name, settings }) => ({
      name,
      description: settings.description,
      release_date: new Date(settings.created * 1000).toISOString().slice(0, 10),
    })),
  })
}
