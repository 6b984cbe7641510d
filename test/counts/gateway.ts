import type { AddressInfo } from 'node:net'
import { memory } from '../../adapters/memory/index.ts'
import { fetch } from '../../adapters/production/platform.ts'
import { createGateway } from '../../core/gateway.ts'
import { use } from '../../core/plugin.ts'
import type { SettingsInput } from '../../core/settings.ts'
import redact from '../../plugins/guards/redact.ts'
import openai from '../../plugins/providers/openai.ts'

// The gateway with its enclave in one process, so that one count has both. `ROUTING` and `GUARDED` choose the way of chats.
const most = 1e9
const free = { requestsPerSecond: most, concurrentRequests: most, tokensPerMinute: most, tokensPerDay: most }
const gateway = createGateway(
  {
    ...memory(),
    fetch: use(fetch),
    ...(process.env['GUARDED'] === 'yes' && { guards: [use(redact)] }),
    upstreams: [use(openai, { baseUrl: `${process.env['UPSTREAM']}/v1`, apiKey: 'none' })],
  },
  {
    models: { bench: { standard: true, confidential: true, upstreams: [{ provider: 'openai' }] } },
    routing: JSON.parse(process.env['ROUTING'] ?? '{}') as NonNullable<SettingsInput['routing']>,
    limits: { key: free, organization: free, sealedStreams: 1000 },
  },
)
await gateway.keys.create({}, process.env['KEY'])
const server = gateway.server()
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
