import * as v from 'valibot'
import { type Caller, hasScope } from '../../../core/access/caller.ts'
import { lives } from '../../../core/access/key-row.ts'
import { Keyring } from '../../../core/access/keyring.ts'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { enveloped, type ServerEvent, data, events } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { lazy } from '../../../core/plugin.ts'
import { Lifecycle } from '../../../core/lifecycle.ts'
import { Live, type News, mostPerSecond } from '../../observers/live/live.ts'
import type { Part } from '../../observers/live/sample.ts'
import { Traffic, groupings, spans } from '../../observers/traffic/traffic.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { Settings } from '../../../core/settings.ts'
import { organizationFor, whose } from './whose.ts'

const scope = 'api_key.read'
/** Seconds after which a stream ends: its reader comes again, with a look at its key. */
const longest = 300
/** Ms between two looks at the key, between two signs of life, and between two looks at the gateway's end. */
const keyMs = 4_000
const signMs = 15_000
const stepMs = 500

interface Watch {
  readonly live: Live
  readonly clock: Clock
  readonly lifecycle: Lifecycle
  /** Unix time in ms. */
  readonly until: number
  /** Whether the caller may still listen. */
  may(): Promise<boolean>
}

const sent = (event: string, data: string): ServerEvent => ({ event, data })

/** Listeners that keep up share a list of requests, which is printed once. */
const joined = new WeakMap<News['requests'], string>()

const textOf = (requests: News['requests']): string => {
  const known = joined.get(requests) ?? requests.map(({ text }) => text).join(',')
  joined.set(requests, known)
  return known
}

const printed = ({ requests, passed }: News, processes: number): string =>
  `{"requests":[${textOf(requests)}],"passed":${passed},"processes":${processes}}`

const beginning = (part: Part, processes: number): string =>
  JSON.stringify({ of: part === null ? 'all' : 'organization', per_second: mostPerSecond, processes })

/** The events of one listener. A revoked key hears nothing more within five seconds. */
async function* heard(part: Part, { live, clock, lifecycle, until, may }: Watch, signal: AbortSignal) {
  let looked = clock.now()
  let signed: number | null = null
  for await (const news of live.listen(part, stepMs, signal)) {
    const now = clock.now()
    if (lifecycle.draining.aborted || now >= until) return
    if (now - looked >= keyMs) {
      looked = now
      if (!(await may())) return
    }
    if (signed === null) yield sent('listening', beginning(part, live.processes()))
    else if (news.requests.length > 0 || news.passed > 0) yield sent('requests', printed(news, live.processes()))
    else if (now - signed >= signMs) yield { comment: 'listening' }
    else continue
    signed = now
  }
}

const listen = route({
  method: 'GET',
  path: '/admin/live',
  summary:
    'The requests of the caller’s organisation as they run, as server-sent events; for operators those of any organisation.',
  access: { scope },
  query: v.strictObject({
    ...whose,
    seconds: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^\d{1,3}$/, `a number from 1 to ${longest}`),
        v.transform(Number),
        v.minValue(1),
        v.maxValue(longest),
      ),
      String(longest),
    ),
  }),
  needs: { live: Live, clock: Clock, keyring: Keyring, lifecycle: Lifecycle, settings: Settings },
  handle({ caller, query, signal }, { live, clock, keyring, lifecycle, settings }) {
    const part = organizationFor(caller, query.organization, settings)
    const until = clock.now() + query.seconds * 1000
    const may = () => stillMay(caller, keyring, clock)
    return events(heard(part, { live, clock, lifecycle, until, may }, signal), () => null)
  },
})

/** A person with a token has no key; the end of the stream bounds how long it counts. */
const stillMay = async (caller: Caller, keyring: Keyring, clock: Clock): Promise<boolean> => {
  const row = await keyring.get(caller.key, caller.organization)
  return row === null ? !caller.key.startsWith('key_') : lives(row, clock.now()) && hasScope(row, scope)
}

const count = v.number()
const orNull = v.nullable(count)

const figures = {
  requests: count,
  /** Null for models and teams: a call that failed has no model that callers know. */
  errors: orNull,
  sealed: count,
  p50_ms: orNull,
  p95_ms: orNull,
  first_token_p50_ms: orNull,
  first_token_p95_ms: orNull,
  input: count,
  output: count,
  cost: count,
  unpriced: count,
}

const printing = lazy(() => import('./printed-traffic.ts'))

const traffic = route({
  method: 'GET',
  path: '/admin/traffic',
  summary:
    'What the callers of the own organisation asked, minute by minute for an hour or by half hours for a day; for operators what all callers asked.',
  access: { scope: 'api_key.read' },
  query: v.strictObject({
    ...whose,
    span: v.optional(v.picklist(spans), 'hour'),
    by: v.optional(v.picklist(groupings)),
    name: v.optional(v.pipe(v.string(), v.maxLength(256))),
  }),
  answer: enveloped(
    v.object({
      processes: count,
      step_ms: count,
      slots: v.array(v.object({ at: count, ...figures })),
      sums: v.array(v.object({ name: v.string(), ...figures })),
      marks: v.array(v.object({ at: count, what: v.picklist(['start', 'reload']) })),
      incidents: v.array(
        v.object({
          ...{ backend: v.string(), model: v.string(), since: count, last: count },
          ...{ until: orNull, failed: count, status: orNull },
        }),
      ),
    }),
  ),
  needs: { traffic: Traffic, settings: Settings },
  async handle({ caller, query }, { traffic, settings }) {
    const { organization: wanted } = query
    const isWhole = wanted === undefined && settings.operators.includes(caller.organization)
    const organization = isWhole ? null : organizationFor(caller, wanted, settings)
    const { allTraffic, trafficOf } = await printing()
    // A turn of the loop tells one: it takes milliseconds.
    await freeTurn()
    return data(await (organization === null ? allTraffic(traffic, query) : trafficOf(organization, traffic, query)))
  },
})

/** Listeners see states, times and counts of requests, and never a text of them. */
export const liveRoutes = [listen, traffic] as const
