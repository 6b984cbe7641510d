import * as v from 'valibot'
import { bareError } from '../../core/http/reply.ts'
import { route } from '../../core/http/route.ts'
import { Streams } from './shared/sealed-streams.ts'
import { Meter } from '../../core/inference/metering/meter.ts'
import { lazy, plugin } from '../../core/plugin.ts'
import { Enclave } from '../../core/ports/enclave.ts'
import { Clock } from '../../core/ports/platform.ts'
import { Surface } from '../../core/ports/surface.ts'
import { Settings } from '../../core/settings.ts'
import { enclaveNeeds } from './shared/call-enclave.ts'

const chapter = async () => (await import('./ehbp/chapter.ts')).chapter
const answering = lazy(() => import('./ehbp/answers.ts'))

const keys = route({
  method: 'GET',
  path: '/.well-known/hpke-keys',
  summary: 'The keys of the enclave for clients of the Encrypted HTTP Body Protocol.',
  access: 'anyone',
  attempts: 20,
  needs: { enclave: Enclave, clock: Clock },
  handle: async (_, { enclave, clock }) => (await answering()).publishedKeys(enclave, clock),
})

const chat = route({
  method: 'POST',
  path: '/ehbp/v1/chat/completions',
  summary: 'Answers a conversation that is sealed by the Encrypted HTTP Body Protocol.',
  access: { scope: 'chats.completion' },
  body: { read: 'stream', schema: v.any() },
  places: { name: 'ehbp', most: 16 },
  errors: bareError,
  needs: { ...enclaveNeeds, meter: Meter, streams: Streams, clock: Clock, settings: Settings },
  handle: async (request, supplied) => (await answering()).answeredChat(request, supplied),
})

/** Chats by the Encrypted HTTP Body Protocol, which clients of other services speak. The enclave alone opens them. */
export default plugin({
  port: Surface,
  name: 'ehbp',
  create: (): Surface => ({
    name: 'ehbp',
    routes: [keys, chat],
    chapter,
    links: () => ({ ehbp: '/.well-known/hpke-keys' }),
    clients: () => ({ EHBP: '/ehbp' }),
  }),
})
