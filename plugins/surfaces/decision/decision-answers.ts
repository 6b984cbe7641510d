import { mayUse, type Caller } from '../../../core/access/caller.ts'
import {
  type DecisionRequest,
  type OrderedObject,
  parseDecision,
  wideBounds,
} from '../../shared/decisions/typed-decision.ts'
import { printAnswered, type Answered } from '../../shared/decisions/typed-decision-answer.ts'
import { printOpenaiDecision } from './openai/answer.ts'
import { readOpenaiDecision } from './openai/request.ts'
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

/** Members that mean something to the router alone. */
const routersOwn = ['provider', 'session_id', 'trace', 'user'] as const

/** A text names one backend of this gateway, as on the gateway's own routes. */
const pinsBackend = (name: string, value: OrderedJson | undefined): boolean =>
  name === 'provider' && typeof value === 'string'

/** The router's `provider` is an object of preferences among its own backends, so it leads nowhere here. */
const readRouterDecision = (body: OrderedJson): DecisionRequest => {
  if (!(body instanceof Map)) return parseDecision(body, wideBounds)
  const fields = new Map(body as OrderedObject)
  const dropped = routersOwn.filter((name) => fields.get(name) != null && !pinsBackend(name, fields.get(name)))
  for (const name of dropped) fields.delete(name)
  return { ...parseDecision(fields, wideBounds), dropped }
}

/** The answer in the form of OpenRouter's client. */
const printRouterDecision = (id: string, answered: Answered): unknown => {
  const { model, answers, usage } = printAnswered(answered, 'diagnostics')
  return { id, model, provider: answered.diagnostics['backend'] ?? undefined, answers, usage }
}
