import { mayUse, type Caller } from '../../../core/access/caller.ts'
import type { DecisionRequest } from '../../shared/decisions/typed-decision.ts'
import { printAnswered } from '../../shared/decisions/typed-decision-answer.ts'
import { printOpenaiDecision } from './openai/answer.ts'
import { readOpenaiDecision } from './openai/request.ts'
import { printRouterDecision, readRouterDecision } from './router-decision.ts'
import type { OrderedJson } from '../../../core/ports/upstream.ts'
import { json, type Reply } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import type { Catalog } from '../../../core/inference/models/catalog.ts'
import { decides, decisionFor } from '../../shared/decisions/decide-for-caller.ts'
import type { CallerDecisionNeeds } from '../../shared/decisions/decision-needs.ts'
import { catalogEntryOf } from '../../shared/models/listed-model.ts'

/** The answers to typed questions, with their diagnostics under this name. */
export const answerDecision = async (
  { input, record, caller, signal }: Request<DecisionRequest, unknown, Caller>,
  given: CallerDecisionNeeds,
  under: 'diagnostics' | 'x_diagnostics',
): Promise<Reply> => {
  const decided = await decisionFor(input, caller, given, signal, record)
  return json(printAnswered(decided, under), 200, decided.headers)
}

const droppedFrom = ({ dropped = [] }: DecisionRequest): Readonly<Record<string, string>> =>
  dropped.length === 0 ? {} : { 'x-sealgate-dropped': dropped.join(', ') }

/** The answers in the form of OpenAI’s clients, where a backend may decline single questions. */
export const answerOpenaiDecision = async (
  { input, record, caller, signal }: Request<OrderedJson, unknown, Caller>,
  given: CallerDecisionNeeds,
): Promise<Reply> => {
  const { request, questions } = readOpenaiDecision(input)
  const decided = await decisionFor(request, caller, given, signal, record, true)
  return json(printOpenaiDecision(decided, questions), 200, { ...decided.headers, ...droppedFrom(request) })
}

/** The answers in the form of OpenRouter’s client. */
export const answerRouterDecision = async (
  { id, input, record, caller, signal }: Request<OrderedJson, unknown, Caller>,
  given: CallerDecisionNeeds,
): Promise<Reply> => {
  const request = readRouterDecision(input)
  const decided = await decisionFor(request, caller, given, signal, record)
  return json(printRouterDecision(id, decided), 200, { ...decided.headers, ...droppedFrom(request) })
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
