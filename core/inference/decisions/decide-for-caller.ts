import { mayUse, type Caller } from '../../access/caller.ts'
import type { DecisionRequest } from '../../dialects/typed-decision.ts'
import { BadRequest } from '../../errors.ts'
import { picturesWithin } from '../media/media.ts'
import type { Entry } from '../models/catalog-entry.ts'
import { servedModel } from '../models/find-model.ts'
import { decide } from './decide.ts'
import type { DecisionNeeds } from './decide-once.ts'
import type { CallerDecisionNeeds } from './decision-needs.ts'

/** The name that the stock client sends when its user names none. */
export const anyDecisionModel = 'jev-latest'

/** Whether a model answers decisions in the clear. */
export const decides = ({ does, settings }: Entry) => does.has('decide') && settings.standard

/** The model behind a name: an alias, a model of that name, or for the stock name the default. */
const resolve = async (
  name: string,
  caller: Caller,
  { catalog, settings }: CallerDecisionNeeds,
  signal: AbortSignal,
): Promise<string> => {
  const { aliases, default: byDefault } = settings.decision
  const alias = Object.hasOwn(aliases, name) ? aliases[name] : undefined
  if (alias !== undefined) return alias
  if (name !== anyDecisionModel || (await catalog.find(name, signal)) !== null) return name
  if (byDefault !== undefined) return byDefault
  const first = (await catalog.list(signal)).find((entry) => decides(entry) && mayUse(caller, entry.name))
  return first?.name ?? name
}

const entryFor = async (
  name: string,
  caller: Caller,
  given: CallerDecisionNeeds,
  signal: AbortSignal,
): Promise<Entry> => {
  const { catalog, settings } = given
  const model = await resolve(name, caller, given, signal)
  const entry = await catalog.find(model, signal)
  if (entry?.settings.standard && mayUse(caller, entry.name) && entry.does.has('chat') && !entry.does.has('decide')) {
    const message = 'The model only chats: send it to /' + settings.names.std + '/chat/completions'
    // Any chat model can; whether this one should is for its operator to say.
    const expected = 'expected a model that decides; a chat model does with "decide": true in its settings'
    throw new BadRequest(message, { validator: { model: expected } })
  }
  return servedModel(catalog, caller, model, 'decide', signal)
}

/** Who is asked again about what stays uncertain; a pinned backend is taken at its word. */
const largerThan = async (
  entry: Entry,
  request: DecisionRequest,
  caller: Caller,
  { catalog, settings: { decision } }: CallerDecisionNeeds,
  signal: AbortSignal,
) => {
  const { escalate } = decision
  if (!escalate || request.provider !== null || escalate.to === entry.name || !mayUse(caller, escalate.to)) return null
  const larger = await catalog.find(escalate.to, signal)
  return larger !== null && decides(larger) ? { entry: larger, below: escalate.below } : null
}

/** The answers to a caller's questions, on the caller's bill. */
export const decisionFor = async (
  input: DecisionRequest,
  caller: Caller,
  given: CallerDecisionNeeds,
  signal: AbortSignal,
): ReturnType<typeof decide> => {
  const { inference, meter, clock, settings } = given
  const began = clock.now()
  const total = settings.timeouts.decision
  const entry = await entryFor(input.model, caller, given, signal)
  const larger = await largerThan(entry, input, caller, given, signal)
  const images = await picturesWithin(input, total, clock, signal)
  const { provider, questions, state, samples, steps } = input
  const call = { state, images, samples, steps }
  const reserve: DecisionNeeds['reserve'] = (entry, estimate) => meter.reserve(caller, entry, estimate)
  const matter = { entry, larger, provider, questions, call, began, total }
  return decide({ inference, reserve, clock }, matter, signal)
}
