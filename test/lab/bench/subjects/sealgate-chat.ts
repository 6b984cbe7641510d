import { clock } from '../../../../adapters/memory/platform.ts'
import { memory } from '../../../../adapters/memory/index.ts'
import { fetch } from '../../../../adapters/production/platform.ts'
import usageJournal from '../../../../adapters/production/usage-journal.ts'
import { createGateway } from '../../../../core/gateway.ts'
import { use } from '../../../../core/plugin.ts'
import anthropic from '../../../../plugins/providers/anthropic.ts'
import openai from '../../../../plugins/providers/openai.ts'
import { answering } from './answering.ts'

const most = 1e9
/** Where the journal of usage is kept; absent, none is. */
const folder = process.env['JOURNAL']
const gateway = createGateway(
  {
    ...memory(),
    clock: use(clock),
    fetch: use(fetch),
    ...(folder !== undefined && { usageJournal: use(usageJournal, { folder }) }),
    upstreams: [
      use(openai, { baseUrl: `${process.env['UPSTREAM']}/v1`, apiKey: 'none' }),
      use(anthropic, { baseUrl: process.env['UPSTREAM']!, apiKey: 'none' }),
    ],
  },
  {
    models: {
      bench: { upstreams: [{ provider: 'openai' }] },
      messages: { upstreams: [{ provider: 'anthropic', model: 'bench' }] },
    },
    limits: {
      key: { requestsPerSecond: most, concurrentRequests: most, tokensPerMinute: most },
      organization: { requestsPerSecond: most, concurrentRequests: most, tokensPerMinute: most },
    },
  },
)
await gateway.keys.create({}, process.env['KEY'])
answering(gateway.server())
