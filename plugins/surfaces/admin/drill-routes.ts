import * as v from 'valibot'
import { actorOf, Audit } from '../../../core/access/audit.ts'
import { BadRequest, Conflict, Unconfigured } from '../../../core/errors.ts'
import { type ServerEvent, events } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { type Entry, isCandidateFor } from '../../../core/inference/models/catalog-entry.ts'
import { Catalog } from '../../../core/inference/models/catalog.ts'
import { servedModel } from '../../shared/models/find-model.ts'
import { Lifecycle } from '../../../core/lifecycle.ts'
import { Drill, type DrillPlan, type SceneResult, type SceneTitle, marks } from './drill.ts'
import { Clock } from '../../../core/ports/platform.ts'
import { Settings } from '../../../core/settings.ts'

/** Whether a drill plays in this process, whichever of its gateways was asked for it. */
let isPlaying = false

interface Show {
  readonly model: string
  readonly plan: DrillPlan
  readonly scenes: readonly SceneTitle[]
  readonly drill: Drill
  readonly clock: Clock
  /** Runs between the two writes of the audit. */
  record(begin: () => Promise<void>): Promise<void>
}

const planOf = ({ settings: model, candidates }: Entry, { timeouts, routing }: Settings): DrillPlan => ({
  chain: candidates.filter(isCandidateFor(model, 'chat')).map(({ priority, weight, upstream }) => ({
    priority,
    weight,
    continues: upstream.continues !== false,
  })),
  continues: model.continues,
  timeouts,
  routing,
})

/** Throws Unconfigured where nothing plays, and BadRequest for a name that no scene has. */
const scenesOf = ({ scenes: all }: Drill, wanted: readonly string[] | undefined): readonly SceneTitle[] => {
  if (all.length === 0) throw new Unconfigured({ validator: { drill: 'Expected an adapter that plays faults' } })
  if (wanted?.some((name) => all.every(({ scene }) => scene !== name)) === true)
    throw new BadRequest('Validation failed', { validator: { scenes: 'Expected names of scenes, such as S01' } })
  return wanted === undefined ? all : all.filter(({ scene }) => wanted.includes(scene))
}

const told = (event: string, data: object): ServerEvent => ({ event, data: JSON.stringify(data) })

const printed = ({ caller: { firstToken, ...caller }, ...rest }: SceneResult) => ({
  ...rest,
  caller: { ...caller, first_token: firstToken },
})

async function* acted({ model, plan, scenes, drill, clock }: Show, signal: AbortSignal) {
  const began = clock.now()
  const marked = Object.fromEntries(marks.map((mark) => [mark, 0]))
  const { chain, continues, routing } = plan
  yield told('begins', { model, backends: chain.length, retries: routing.retries, continues, scenes })
  const names = scenes.map(({ scene }) => scene)
  for await (const result of drill.play(plan, names, signal)) {
    marked[result.mark] = (marked[result.mark] ?? 0) + 1
    yield told('scene', printed(result))
  }
  if (!signal.aborted) yield told('ended', { ...marked, ms: clock.now() - began })
}

/** The only drill of the process. Throws Conflict at its first step while another one plays. */
async function* alone(show: Show, signal: AbortSignal) {
  let isMine = false
  const begin = async (): Promise<void> => {
    if (isPlaying) throw new Conflict('A drill is under way in this process')
    isPlaying = isMine = true
  }
  try {
    await show.record(begin)
    yield* acted(show, signal)
  } finally {
    if (isMine) isPlaying = false
  }
}

const play = route({
  method: 'POST',
  path: '/admin/drill',
  summary: 'Plays faults of backends against the running configuration, with scripted backends, as server-sent events.',
  access: { scope: 'api_key.update', operators: true },
  body: {
    read: 'json',
    schema: v.strictObject({
      model: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
      scenes: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(16))), v.minLength(1), v.maxLength(64))),
    }),
    bytes: 4_096,
  },
  needs: { drill: Drill, catalog: Catalog, audit: Audit, clock: Clock, lifecycle: Lifecycle, settings: Settings },
  async handle({ id, caller, input, signal }, { drill, catalog, audit, clock, lifecycle, settings }) {
    const scenes = scenesOf(drill, input.scenes)
    const entry = await servedModel(catalog, caller, input.model, 'chat', signal)
    const record = (begin: () => Promise<void>) => audit.record(actorOf(id, caller), 'drill', entry.name, begin)
    const show = { model: entry.name, plan: planOf(entry, settings), scenes, drill, clock, record }
    const either = AbortSignal.any([signal, lifecycle.closing, lifecycle.draining])
    return events(alone(show, either), (error) => told('error', { error: error.message }))
  },
})

/** A drill asks scripted backends alone, so it costs nothing and disturbs no caller. */
export const drillRoutes = [play] as const
