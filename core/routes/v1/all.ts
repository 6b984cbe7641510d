import { text } from '../../http/reply.ts'
import { type AnyRoute, route } from '../../http/route.ts'
import { publicChat } from '../chat.ts'
import { mediaRoutes } from '../media.ts'
import { atV1 } from './dialect-route.ts'
import { generateContent } from './generate-content.ts'
import { messages } from './messages.ts'
import { models } from './models.ts'
import { responses } from './responses.ts'

/** Some clients look for the gateway before they speak to it. */
const greet = route({
  method: 'HEAD',
  path: '/',
  summary: 'Says that the gateway is there.',
  access: 'unasked',
  needs: {},
  handle: () => text('', 'text/plain; charset=utf-8'),
})

/** The doors of all dialects. */
export const v1Routes: readonly AnyRoute[] = [
  atV1(publicChat),
  responses,
  ...messages,
  ...generateContent,
  ...models,
  ...mediaRoutes.map(atV1),
  greet,
]
