import * as v from 'valibot'
import { keys } from '../access/key-row.ts'
import { Metrics } from '../http/metrics.ts'
import { enveloped } from '../http/envelope.ts'
import { data, refused, text } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { Lifecycle } from '../lifecycle.ts'
import { Clock } from '../ports/platform.ts'
import { ProofWitness } from '../ports/proof-witness.ts'
import { MetadataStore } from '../ports/metadata-store.ts'

const patience = 2_000

const live = route({
  method: 'GET',
  path: '/health/live',
  summary: 'Whether the process answers at all.',
  access: 'unasked',
  answer: enveloped(v.object({ live: v.boolean() })),
  needs: {},
  handle: () => data({ live: true }),
})

const ready = route({
  method: 'GET',
  path: '/health/ready',
  summary:
    'Whether requests should be sent here: not while starting or draining, nor while the row store is out of reach.',
  access: 'unasked',
  /** `degraded` names what clients that seal would refuse; requests in the clear are served as ever. */
  answer: enveloped(v.object({ ready: v.boolean(), degraded: v.optional(v.array(v.string())) })),
  needs: { rows: MetadataStore, lifecycle: Lifecycle, clock: Clock, proof: ProofWitness },
  async handle({ signal }, { rows, lifecycle, clock, proof }) {
    // Answers and not faults: a probe asks again and again, and what fails for anyone else is reported there.
    if (lifecycle.draining) return refused(503, 'Draining', null)
    if (lifecycle.held > 0) return refused(503, 'Starting', null)
    const inReach = await Promise.race([
      rows.get(keys, 'ready').then(() => true),
      clock.sleep(patience, signal).then(() => false),
    ]).catch(() => false)
    if (!inReach) return refused(503, 'Service temporarily unavailable', null)
    const degraded = proof.ailing()
    return data({ ready: true, ...(degraded.length > 0 && { degraded }) })
  },
})

const measured = route({
  method: 'GET',
  path: '/metrics',
  summary: 'Everything measured, in the text form that Prometheus reads.',
  access: { scope: 'api_key.read', operators: true },
  needs: { metrics: Metrics },
  handle: async (_, { metrics }) => text(await metrics.told(), metrics.registry.contentType),
})

export const health = [live, ready, measured] as const
