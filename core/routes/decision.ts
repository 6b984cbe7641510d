import { parseDecision } from '../dialects/typed-decision.ts'
import { printDetail } from '../dialects/typed-decision-answer.ts'
import { route } from '../http/route.ts'
import { decisionNeeds } from '../inference/decisions/decision-needs.ts'
import { Catalog } from '../inference/models/catalog.ts'
import { lazy } from '../lazy.ts'
import type { Settings } from '../settings.ts'
import { decisionAnswer, decisionModels, decisionRequest, systemOneFaults } from './decision-shape.ts'

const answering = lazy(() => import('./decision-answers.ts'))

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
  handle: async (request, given) => (await answering()).answerDecision(request, given, 'diagnostics'),
})

const systemOne = route({
  ...shared,
  path: '/compat/v1/systemone',
  summary: 'Answers typed questions about a state, in the form that System-One clients know.',
  answer: decisionAnswer('x_diagnostics'),
  errors: (_, error) => printDetail(error),
  faults: systemOneFaults,
  handle: async (request, given) => (await answering()).answerDecision(request, given, 'x_diagnostics'),
})

const models = route({
  method: 'GET',
  path: '/compat/v1/models',
  summary: 'Lists the models that answer typed questions for the key.',
  access: { scope: 'models.read' },
  answer: decisionModels,
  headers: { 'x-typesafe-request-id': '{id}' },
  needs: { catalog: Catalog },
  handle: async (request, given) => (await answering()).listDeciders(request, given),
})

/** The code that decides is loaded with the first call. */
export const decisionRoutes = [decision, systemOne, models] as const
