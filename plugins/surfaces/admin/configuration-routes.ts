import * as v from 'valibot'
import { actorOf, Audit } from '../../../core/access/audit.ts'
import { unlessAborted } from '../../../core/abort.ts'
import { Conflict, Unavailable } from '../../../core/errors.ts'
import { enveloped, data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import {
  Configuration,
  type ConfigurationComparison,
  changeKinds,
  settingContents,
  settingOrigins,
} from './configuration.ts'
import { triedParts } from './tried-parts.ts'
import { Clock } from '../../../core/ports/platform.ts'

/** Bounds of one answer. */
const mostSettings = 10_000
const mostChanges = 1_000
const mostFaults = 100

/** In ms: a plugin that does not end its loading holds a check no longer. */
const mostCheckMs = 30_000

const shown = {
  origin: v.picklist(settingOrigins),
  content: v.picklist(settingContents),
  value: v.nullable(v.union([v.string(), v.number(), v.boolean()])),
  variable: v.nullable(v.string()),
  set: v.nullable(v.boolean()),
}

const path = v.array(v.string())
const side = v.nullable(v.object(shown))

const differences = {
  changes: v.nullable(
    v.array(v.object({ path, change: v.picklist(changeKinds), before: side, after: side, restart: v.boolean() })),
  ),
  changes_left_out: v.number(),
}

const told = (changes: ConfigurationComparison['changes']) => ({
  changes: changes?.slice(0, mostChanges) ?? null,
  changes_left_out: Math.max(0, (changes?.length ?? 0) - mostChanges),
})

const read = route({
  method: 'GET',
  path: '/admin/configuration',
  summary: 'The configuration in effect, and how its file differs from it. No value of a secret is told.',
  access: { scope: 'api_key.read', operators: true },
  answer: enveloped(
    v.object({
      file: v.nullable(v.string()),
      read_at: v.number(),
      settings: v.array(v.object({ path, ...shown })),
      settings_left_out: v.number(),
      faults: v.array(v.string()),
      ...differences,
    }),
  ),
  needs: { configuration: Configuration },
  async handle(_, { configuration }) {
    const { file, readAt, settings } = await configuration.inEffect()
    const { faults, changes } = await configuration.compare()
    return data({
      file,
      read_at: readAt,
      settings: settings.slice(0, mostSettings),
      settings_left_out: Math.max(0, settings.length - mostSettings),
      faults: bounded(faults),
      ...told(changes),
    })
  },
})

/** The first sentences, and how many more there are. */
const bounded = (faults: readonly string[]): readonly string[] => {
  const more = faults.length - mostFaults
  return more > 0 ? [...faults.slice(0, mostFaults), `The file has ${more} more faults`] : faults
}

/** Whether a check goes on in this process, whichever of its gateways was asked for it. */
let isChecking = false

/** Throws Conflict while another check goes on, and Unavailable where this one takes too long. */
const alone = async <T>(clock: Clock, work: () => Promise<T>): Promise<T> => {
  if (isChecking) throw new Conflict('A check is under way in this process')
  isChecking = true
  const late = new AbortController()
  const alarm = clock.alarm(mostCheckMs, () => late.abort(new Unavailable()))
  try {
    return await unlessAborted(work(), late.signal)
  } finally {
    alarm.off()
    isChecking = false
  }
}

const check = route({
  method: 'POST',
  path: '/admin/configuration/check',
  summary: 'Lists every fault of the configuration as its file has it now. Nothing in effect changes.',
  access: { scope: 'api_key.update', operators: true },
  answer: enveloped(v.object({ faults: v.array(v.string()) })),
  needs: { configuration: Configuration, audit: Audit, clock: Clock },
  async handle({ id, caller }, { configuration, audit, clock }) {
    const look = () => alone(clock, () => configuration.check())
    const faults = await audit.record(actorOf(id, caller), 'configuration.check', null, look)
    return data({ faults: bounded(faults) }, faults.length === 0 ? 'No faults' : null)
  },
})

const tryOut = route({
  method: 'POST',
  path: '/admin/configuration/try',
  summary:
    'Lists every fault that the configuration would have with other models, backends and guards, what they would change, and how a test call ends.',
  access: { scope: 'api_key.update', operators: true },
  body: { read: 'json', schema: triedParts, bytes: 64 * 1024 },
  answer: enveloped(
    v.object({
      faults: v.array(v.string()),
      ...differences,
      call: v.nullable(
        v.object({ model: v.string(), status: v.number(), ms: v.number(), fault: v.nullable(v.string()) }),
      ),
    }),
  ),
  needs: { configuration: Configuration, audit: Audit, clock: Clock },
  async handle({ id, caller, input }, { configuration, audit, clock }) {
    const { call = null, ...parts } = input
    const look = () => alone(clock, () => configuration.try({ ...parts, call }))
    const { faults, changes, call: ended } = await audit.record(actorOf(id, caller), 'configuration.check', null, look)
    return data(
      { faults: bounded(faults), ...told(changes), call: ended && { ...ended } },
      faults.length === 0 ? 'No faults' : null,
    )
  },
})

export const configurationRoutes = [read, check, tryOut] as const
