import * as v from 'valibot'
import { keys } from '../access/keyring.ts'
import { Unavailable } from '../errors.ts'
import { Metrics } from '../http/metrics.ts'
import { data, text } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { Lifecycle } from '../lifecycle.ts'
import { Clock } from '../ports/host.ts'
import { MetadataStore } from '../ports/metadata-store.ts'

const patience = 2_000

const live = route({
  method: 'GET',
  path: '/health/live',
  summary: 'Whether the process answers at all.',
  access: 'anyone',
  answer: v.object({ live: v.boolean() }),
  needs: {},
  handle: () => data({ live: true }),
})

const ready = route({
  method: 'GET',
  path: '/health/ready',
  summary: 'Whether requests should be sent here: not while draining, nor while the rows are out of reach.',
  access: 'anyone',
  answer: v.object({ ready: v.boolean() }),
  needs: { rows: MetadataStore, lifecycle: Lifecycle, clock: Clock },
  async handle({ signal }, { rows, lifecycle, clock }) {
    if (lifecycle.draining) throw new Unavailable('Draining')
    const asked = rows.get(keys, 'ready')
    await Promise.race([
      asked,
      clock.sleep(patience, signal).then(() => {
        throw new Unavailable()
      }),
    ])
    return data({ ready: true })
  },
})

const measured = route({
  method: 'GET',
  path: '/metrics',
  summary: 'Everything measured, in the text form that Prometheus reads.',
  access: { scope: 'api_key.read' },
  needs: { metrics: Metrics },
  handle: async (_, { metrics }) => text(await metrics.told(), metrics.registry.contentType),
})

export const health = [live, ready, measured] as const
