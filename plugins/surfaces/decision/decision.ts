import type { OrderedJson } from '../../../core/ports/upstream.ts'
import { parseDecision } from '../../shared/decisions/typed-decision.ts'
import { printDetail } from '../../shared/decisions/typed-decision-answer.ts'
import { route } from '../../../core/http/route.ts'
import { decisionNeeds } from '../../shared/decisions/decision-needs.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { lazy } from '../../../core/plugin.ts'
import type { Settings } from '../../../core/settings.ts'
import { decisionAnswer, decisionModels, decisionRequest, systemOneFaults } from './decision-shape.ts'
import { asOpenai, keyHeaders, openaiFaults } from '../shared/dialect-route.ts'
import {
  asRouter,
  openaiDecisionAnswer,
  openaiDecisionRequest,
  routerDecisionAnswer,
  routerDecisionRequest,
  routerFaults,
} from './public-shapes.ts'
import { decisionSettings } from '../../shared/decisions/settings.ts'

const answering = lazy(() => import('./decision-answers.ts'))

const shared = {
  method: 'POST',
  access: { scope: 'chats.completion' },
  body: { read: 'ordered', schema: decisionRequest, bytes: 16 * 1024 * 1024, check: parseDecision },
  places: { name: 'decision', most: (settings: Settings) => decisionSettings.of(settings).places },
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

/** The first call loads the code that reads the body. */
const unread = (body: OrderedJson): OrderedJson => body

/** The same in the words of OpenAI’s clients. */
const openai = route({
  ...shared,
  path: '/v1/decisions',
  summary: 'Answers typed questions about an input, in the form of OpenAI’s clients.',
  body: { ...shared.body, schema: openaiDecisionRequest, check: unread, tooLarge: true },
  answer: openaiDecisionAnswer,
  keyHeaders,
  errors: asOpenai,
  faults: openaiFaults,
  headers: {},
  handle: async (request, given) => (await answering()).answerOpenaiDecision(request, given),
})

/** The client puts the path behind the server's name, whatever its base URL is. */
const openrouter = route({
  ...shared,
  path: '/api/alpha/decisions',
  summary: 'Answers typed questions about a state, in the form of OpenRouter’s client.',
  body: { ...shared.body, schema: routerDecisionRequest, check: unread, tooLarge: true },
  answer: routerDecisionAnswer,
  errors: asRouter,
  faults: routerFaults,
  headers: {},
  handle: async (request, given) => (await answering()).answerRouterDecision(request, given),
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
export const decisionRoutes = [decision, systemOne, models, openai, openrouter] as const
