import * as v from 'valibot'
import { actorOf, Audit } from '../../../core/access/audit.ts'
import { enveloped, data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { Backends } from './backends.ts'
import type { BackendState } from './merged.ts'
import { breakerStates } from '../../../core/inference/routing/breaker.ts'
import { outcomes } from '../../../core/ports/observer.ts'
import { Settings } from '../../../core/settings.ts'
import { faultKinds } from './records.ts'

const ms = v.nullable(v.number())
const count = v.number()

const state = v.object({
  backend: v.string(),
  state: v.picklist(breakerStates),
  rest_ms: count,
  breakers: v.array(v.object({ model: v.string(), state: v.picklist(breakerStates), rest_ms: count })),
  calls: v.array(v.object({ at: count, outcome: v.picklist(outcomes), status: v.nullable(count), ms: count })),
  faults: v.array(v.object({ kind: v.picklist(faultKinds), count })),
  p50_ms: ms,
  p95_ms: ms,
  first_token_p50_ms: ms,
  first_token_p95_ms: ms,
  listed_at: v.nullable(count),
  used: v.object({
    requests: count,
    input: count,
    output: count,
    cached: count,
    reasoning: count,
    unpriced: count,
    cost: v.nullable(count),
  }),
})

/** A backend stands as badly as the worst of its breakers. */
const printed = ({ name, breakers, used, ...others }: BackendState): v.InferOutput<typeof state> => {
  const places = breakers.map((each) => breakerStates.indexOf(each.state))
  const { cost, ...counts } = used
  return {
    backend: name,
    state: breakerStates[Math.max(0, ...places)] ?? 'closed',
    rest_ms: Math.max(0, ...breakers.map(({ rest }) => rest)),
    breakers: breakers.map(({ model, state, rest }) => ({ model, state, rest_ms: rest })),
    calls: [...others.calls],
    faults: [...others.faults],
    p50_ms: others.p50,
    p95_ms: others.p95,
    first_token_p50_ms: others.first50,
    first_token_p95_ms: others.first95,
    listed_at: others.listed,
    used: { ...counts, cost: used.requests > 0 && used.unpriced === used.requests ? null : cost / 1e6 },
  }
}

const list = route({
  method: 'GET',
  path: '/admin/backends',
  summary: 'How each backend stands: its breakers, its last calls with their faults, its times and its use.',
  access: { scope: 'api_key.read', operators: true },
  answer: enveloped(v.object({ processes: count, backends: v.array(state) })),
  needs: { backends: Backends },
  async handle({ signal }, { backends }) {
    const { processes, backends: all } = await backends.states(signal)
    return data({ processes, backends: all.map(printed) })
  },
})

const wish = v.object({
  backend: v.string(),
  answered: v.boolean(),
  models: v.nullable(count),
  fault: v.nullable(v.picklist(faultKinds)),
  ms: count,
})

const ask = route({
  method: 'POST',
  path: '/admin/backends/{backend}/ask',
  summary: 'Asks a backend for its list of models now.',
  access: { scope: 'api_key.update', operators: true },
  answer: enveloped(wish),
  needs: { backends: Backends, audit: Audit },
  async handle({ id, caller, params: { backend }, signal }, { backends, audit }) {
    const look = () => backends.ask(backend, signal)
    const { ms, models, fault } = await audit.record(actorOf(id, caller), 'backend.ask', backend, look)
    return data({ backend, answered: models !== null, models, fault, ms })
  },
})

const kept = v.object({ backend: v.string(), rest_ms: count, processes: count })

const rest = route({
  method: 'POST',
  path: '/admin/backends/{backend}/rest',
  summary: 'Lets no call through to a backend for a time. After it, one call finds out whether the backend is back.',
  access: { scope: 'api_key.update', operators: true },
  body: {
    read: 'json',
    schema: v.strictObject({
      seconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3_600))),
    }),
    bytes: 1_024,
  },
  answer: enveloped(kept),
  needs: { backends: Backends, audit: Audit, settings: Settings },
  async handle({ id, caller, input, params: { backend }, signal }, { backends, audit, settings }) {
    const rest = input.seconds === undefined ? settings.routing.breaker.rest : input.seconds * 1000
    const act = () => backends.order({ backend, rest }, signal)
    const processes = await audit.record(actorOf(id, caller), 'backend.rest', backend, act)
    return data({ backend, rest_ms: rest, processes }, 'The backend rests')
  },
})

const wake = route({
  method: 'POST',
  path: '/admin/backends/{backend}/wake',
  summary: 'Lets calls through to a backend again, and forgets its faults.',
  access: { scope: 'api_key.update', operators: true },
  answer: enveloped(kept),
  needs: { backends: Backends, audit: Audit },
  async handle({ id, caller, params: { backend }, signal }, { backends, audit }) {
    const act = () => backends.order({ backend, rest: null }, signal)
    const processes = await audit.record(actorOf(id, caller), 'backend.wake', backend, act)
    return data({ backend, rest_ms: 0, processes }, 'The backend is awake')
  },
})

/** Backends are named as in the configuration, and only operators see them. */
export const backendRoutes = [list, ask, rest, wake] as const
