import { mayUse, type Caller } from '../access/caller.ts'
import type { Supplied } from '../container.ts'
import { parseDecision, type DecisionRequest } from '../dialects/typed-decision.ts'
import { printAnswered, printDetail } from '../dialects/typed-decision-answer.ts'
import { BadRequest } from '../errors.ts'
import { json, type Reply } from '../http/reply.ts'
import { route, type Request } from '../http/route.ts'
import { Inference } from '../inference/inference.ts'
import { Catalog } from '../inference/models/catalog.ts'
import { decide } from '../inference/decisions/decide.ts'
import type { DecisionNeeds } from '../inference/decisions/decide-once.ts'
import type { Entry } from '../inference/models/catalog-entry.ts'
import { catalogEntryOf } from '../inference/models/listing.ts'
import { picturesWithin } from '../inference/media/media.ts'
import { Meter } from '../inference/metering/meter.ts'
import { Clock } from '../ports/platform.ts'
import { Settings } from '../settings.ts'
import { decisionAnswer, decisionModels, decisionRequest, systemOneFaults } from './decision-shape.ts'
import { servedModel } from './find-model.ts'

export const decisionNeeds = { catalog: Catalog, inference: Inference, meter: Meter, settings: Settings, clock: Clock }
type DecisionRouteNeeds = Supplied<typeof decisionNeeds>

/** The name that the stock client sends when its user names none. */
export const anyDecisionModel = 'jev-latest'

const decides = ({ does, settings }: Entry) => does.has('decide') && settings.standard

/** The model behind a name: an alias, a model of that name, or for the stock name the default. */
const resolve = async (
  name: string,
  caller: Caller,
  { catalog, settings }: DecisionRouteNeeds,
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
  given: DecisionRouteNeeds,
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
  { catalog, settings: { decision } }: DecisionRouteNeeds,
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
  given: DecisionRouteNeeds,
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

const answer =
  (under: 'diagnostics' | 'x_diagnostics') =>
  async (
    { input, caller, signal }: Request<DecisionRequest, unknown, Caller>,
    given: DecisionRouteNeeds,
  ): Promise<Reply> => {
    const decided = await decisionFor(input, caller, given, signal)
    return json(printAnswered(decided, under), 200, decided.headers)
  }

const shared = {
  method: 'POST',
  access: { scope: 'chats.completion' },
  body: { read: 'ordered', schema: decisionRequest, bytes: 16 * 1024 * 1024, check: parseDecision },
  places: { name: 'decision', most: ({ decision }: Settings) => decision.places },
  headers: { 'x-typesafe-request-id': '{id}' },
  needs: decisionNeeds,
} as const

const decision = route({
  ...shared,
  path: '/compat/v1/decision',
  summary: 'Answers typed questions about a state.',
  answer: decisionAnswer('diagnostics'),
  handle: answer('diagnostics'),
})

const systemOne = route({
  ...shared,
  path: '/compat/v1/systemone',
  summary: 'Answers typed questions about a state, in the form that System-One clients know.',
  answer: decisionAnswer('x_diagnostics'),
  errors: (_, error) => printDetail(error),
  faults: systemOneFaults,
  handle: answer('x_diagnostics'),
})

const models = route({
  method: 'GET',
  path: '/compat/v1/models',
  summary: 'Lists the models that answer typed questions for the key.',
  access: { scope: 'models.read' },
  answer: decisionModels,
  headers: { 'x-typesafe-request-id': '{id}' },
  needs: { catalog: Catalog },
  async handle({ caller, signal }, { catalog }) {
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
  },
})

export const decisionRoutes = [decision, systemOne, models] as const
