import type { OrderedJson } from '../../../core/ports/upstream.ts'
import {
  type DecisionRequest,
  type OrderedObject,
  parseDecision,
  wideBounds,
} from '../../shared/decisions/typed-decision.ts'
import { type Answered, printAnswered } from '../../shared/decisions/typed-decision-answer.ts'

/** Members that mean something to the router alone. */
const routersOwn = ['provider', 'session_id', 'trace', 'user'] as const

/** A text names one backend of this gateway, as on the gateway's own routes. */
const pinsBackend = (name: string, value: OrderedJson | undefined): boolean =>
  name === 'provider' && typeof value === 'string'

/** The router's `provider` is an object of preferences among its own backends, so it leads nowhere here. */
export const readRouterDecision = (body: OrderedJson): DecisionRequest => {
  if (!(body instanceof Map)) return parseDecision(body, wideBounds)
  const fields = new Map(body as OrderedObject)
  const dropped = routersOwn.filter((name) => fields.get(name) != null && !pinsBackend(name, fields.get(name)))
  for (const name of dropped) fields.delete(name)
  return { ...parseDecision(fields, wideBounds), dropped }
}

/** The answer in the form of OpenRouter's client. */
export const printRouterDecision = (id: string, answered: Answered): unknown => {
  const { model, answers, usage } = printAnswered(answered, 'diagnostics')
  return { id, model, provider: answered.diagnostics['backend'] ?? undefined, answers, usage }
}
