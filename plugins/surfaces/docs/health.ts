import * as v from 'valibot'
import { keys } from '../../../core/access/key-row.ts'
import type { Supplied } from '../../../core/container.ts'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { Metrics } from '../../observers/prometheus/metrics.ts'
import { enveloped, data, refused, text } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { Lifecycle } from '../../../core/lifecycle.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { ProofObserver } from '../../../core/ports/proof-observer.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'

/** Ms that the row store may take before it counts as out of reach. */
const patienceMs = 2_000

const needs = { rows: MetadataStore, lifecycle: Lifecycle, clock: Clock }

/** What keeps requests from being sent here; null when nothing does. */
export const obstacleTo = async (
  { rows, lifecycle, clock }: Supplied<typeof needs>,
  signal: AbortSignal,
): Promise<string | null> => {
  if (lifecycle.draining.aborted) return 'Draining'
  if (lifecycle.held > 0) return 'Starting'
  const inReach = await Promise.race([
    rows.get(keys, 'ready').then(() => true),
    clock.sleep(patienceMs, signal).then(() => false),
  ]).catch(() => false)
  return inReach ? null : 'Service temporarily unavailable'
}

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
  /** `degraded` names what clients that seal would refuse, and stores that take no writes; what needs neither is served as ever. */
  answer: enveloped(v.object({ ready: v.boolean(), degraded: v.optional(v.array(v.string())) })),
  needs: { ...needs, proof: ProofObserver },
  async handle({ signal }, { proof, ...supplied }) {
    // Answers and not faults: a probe asks again and again, and what fails for anyone else is reported there.
    const obstacle = await obstacleTo(supplied, signal)
    if (obstacle !== null) return refused(503, obstacle, null)
    const full = supplied.rows.obstacle?.() ?? null
    const degraded = [...proof.ailing(), ...(full === null ? [] : [full])]
    return data({ ready: true, ...(degraded.length > 0 && { degraded }) })
  },
})

const short = route({ ...ready, path: '/health', summary: 'The same as `/health/ready`, where people look first.' })

const measured = route({
  method: 'GET',
  path: '/metrics',
  summary: 'Everything measured, in the text form that Prometheus reads.',
  access: { scope: 'api_key.read', operators: true },
  needs: { metrics: Metrics },
  async handle(_, { metrics }) {
    // A turn of the loop tells all once: it takes milliseconds.
    await freeTurn()
    return text(await metrics.told(), metrics.registry.contentType)
  },
})

/** `live` asks no store: a process must not be restarted because its store is down. */
export const healthRoutes = [live, ready, short, measured] as const
