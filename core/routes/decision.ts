import { mayUse, type Caller } from '../access/caller.ts'
import { parseDecision, type DecisionRequest } from '../dialects/typed-decision.ts'
import { printAnswered, printDetail } from '../dialects/typed-decision-answer.ts'
import { json, type Reply } from '../http/reply.ts'
import { route, type Request } from '../http/route.ts'
import { Catalog } from '../inference/models/catalog.ts'
import {
  type CallerDecisionNeeds,
  decides,
  decisionFor,
  decisionNeeds,
} from '../inference/decisions/decide-for-caller.ts'
import { catalogEntryOf } from '../inference/models/listing.ts'
import type { Settings } from '../settings.ts'
import { decisionAnswer, decisionModels, decisionRequest, systemOneFaults } from './decision-shape.ts'

const answer =
  (under: 'diagnostics' | 'x_diagnostics') =>
  async (
    { input, caller, signal }: Request<DecisionRequest, unknown, Caller>,
    given: CallerDecisionNeeds,
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
