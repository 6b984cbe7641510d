import { Keepsakes } from '../../shared/dialects/keepsakes.ts'
import { ResponsesRequest } from '../../shared/dialects/responses/shape.ts'
import { route } from '../../../core/http/route.ts'
import { chatNeeds, countNeeds } from '../shared/chat-needs.ts'
import { lazy } from '../../../core/plugin.ts'
import { Lifecycle } from '../../../core/lifecycle.ts'
import { Clock, Log, Random } from '../../../core/ports/platform.ts'
import { OwnFetch } from '../../../core/ports/surface.ts'
import { Settings } from '../../../core/settings.ts'
import { ofOpenai } from '../shared/dialect-route.ts'
import { straightDoor } from '../shared/straight-door.ts'
import { sockets } from './settings.ts'
import { handUpgrades } from './socket/upgrade.ts'

const answering = lazy(() => import('./answer-responses.ts'))
const opening = lazy(() => import('./socket/door.ts'))

const { straight, answer } = straightDoor(async () => {
  const { responsesTalk } = await answering()
  return { schema: ResponsesRequest, talk: responsesTalk }
})

const count = route({
  ...ofOpenai,
  method: 'POST',
  path: '/v1/responses/input_tokens',
  summary: 'Counts the tokens of a list of items by the model’s backend; x-sealgate-estimated marks an estimate.',
  body: { read: 'relayed', schema: ResponsesRequest, bytes: ({ bodies }) => bodies.chat, tooLarge: true },
  needs: { ...countNeeds, keepsakes: Keepsakes, clock: Clock, random: Random },
  handle: async (request, given) => (await answering()).countResponses(request, given),
})

const create = route({
  ...ofOpenai,
  method: 'POST',
  path: '/v1/responses',
  summary: 'Answers a list of items, whole or as a stream of events; nothing is stored.',
  body: { read: 'relayed', schema: ResponsesRequest, bytes: ({ bodies }) => bodies.chat, tooLarge: true },
  needs: { ...chatNeeds, keepsakes: Keepsakes, clock: Clock, random: Random },
  straight,
  handle: answer,
})

/** Where no server hands the connection over, a refusal by 426 leads Codex to plain HTTP at once. */
const socket = route({
  ...ofOpenai,
  method: 'GET',
  path: '/v1/responses',
  summary:
    'Opens a WebSocket that answers one list of items after another; the connection remembers its last response.',
  headers: { allow: 'POST' },
  lasts: true,
  served: handUpgrades,
  places: { name: 'sockets', most: (settings) => sockets.of(settings).most },
  needs: {
    ...{ fetch: OwnFetch, lifecycle: Lifecycle, settings: Settings },
    ...{ clock: Clock, random: Random, log: Log },
  },
  handle: async (request, given) => (await opening()).openSocket(request, given),
})

/** The first two take the same items, so that a count and its answer agree. */
export const responses = [create, count, socket] as const
