import type { AddressInfo } from 'node:net'
import { memory } from '../../adapters/memory/index.ts'
import { fetch } from '../../adapters/production/platform.ts'
import { createGateway } from '../../core/gateway.ts'
import { use } from '../../core/plugin.ts'
import openai from '../../plugins/providers/openai.ts'

// The gateway with its enclave in one process, so that one count has both.
const most = 1e9
const free = { requestsPerSecond: most, concurrentRequests: most, tokensPerMinute: most, tokensPerDay: most }
const gateway = createGateway(
  {
    ...memory(),
    fetch: use(fetch),
    upstreams: [use(openai, { baseUrl: `${process.env['UPSTREAM']}/v1`, apiKey: 'none' })],
  },
  {
    models: { bench: { confidential: true, upstreams: [{ provider: 'openai' }] } },
    limits: { key: free, organization: free, sealedStreams: 1000 },
  },
)
await gateway.keys.create({}, process.env['KEY'])
const server = gateway.server()
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
