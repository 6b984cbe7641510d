import * as v from 'valibot'
import { isAddressRange } from './access/addresses.ts'
import { one } from './container.ts'
import type { MemberInputs, RowInputs, Section, SectionInputs } from './ports/section.ts'
import { OwnBudgets, OwnLimits, Webhook, budgets, holders, limit, limits, ownLimit } from './limit-settings.ts'

const amount = v.pipe(v.number(), v.finite('a finite number'), v.minValue(0))
const count = v.pipe(v.number(), v.integer(), v.minValue(1))
const ms = v.pipe(v.number(), v.integer(), v.minValue(1))
/** Ms of a timer: Node rings at once beyond 24.8 days. The rest of that time is for what is added to a setting. */
export const timer = (least = 1) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(24 * 86_400_000))
const mib = 1024 * 1024
const gib = 1024 * mib

/** What a model does. A type decides which routes may call the model. */
export const modelTypes = ['CHAT', 'AUDIO_TRANSCRIPTION', 'AUDIO_SPEECH', 'IMAGE', 'EMBEDDING', 'DECISION'] as const

const temperature = v.pipe(v.number(), v.finite('a finite number'), v.gtValue(0))

/** A model that callers can name, with the backends that serve it. */
export const ModelSettings = v.strictObject({
  type: v.optional(v.picklist(modelTypes), 'CHAT'),
  id: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  name: v.optional(v.string()),
  description: v.optional(v.string(), ''),
  created: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(253_402_300_799)), 0),
  owned_by: v.optional(v.string()),
  input_modalities: v.optional(v.array(v.string())),
  /** The gateway passes, refuses or drops tools that a vendor runs. By default a request that forces such a tool is refused. */
  serverTools: v.optional(v.picklist(['pass', 'refuse', 'drop'])),
  /** Served in the clear on the standard routes. */
  standard: v.optional(v.boolean(), true),
  /** Served inside the enclave, by the enclave's own providers. */
  confidential: v.optional(v.boolean(), false),
  /** May answer typed decisions. */
  decide: v.optional(v.boolean(), false),
  /** Its backends can go on from a given prefix, so a broken stream may be rescued. */
  continues: v.optional(v.boolean(), false),
  /** What its log-probabilities are divided by before decisions are read off. */
  temperature: v.optional(temperature, 1),
  /** Tokens of a prompt and its answer that its backends hold. */
  context_tokens: v.optional(count),
  regions: v.optional(v.array(v.string()), []),
  upstreams: v.pipe(
    v.array(
      v.strictObject({
        provider: v.string(),
        /** The backend's own name of the model; ours when absent. */
        model: v.optional(v.string()),
        /** Of this backend, where it differs. */
        context_tokens: v.optional(count),
        /** Share among those of one priority. */
        weight: v.optional(amount, 1),
        /** 1 is asked first. */
        priority: v.optional(count, 1),
      }),
    ),
    v.minLength(1),
  ),
})

/** Whether this machine knows the time zone. */
export const isTimeZone = (name: string): boolean => {
  // The table of zones takes as long to load as twenty modules of ours.
  if (name === 'UTC') return true
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}

const isOrigin = (text: string): boolean =>
  /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text

export { OwnLimits }

/** The settings of a gateway on any platform. Every field has a default. */
export const SettingsShape = v.strictObject({
  env: v.optional(v.picklist(['development', 'production']), 'development'),
  names: v.optional(
    v.strictObject({
      compat: v.optional(v.string(), 'compat'),
      std: v.optional(v.string(), 'std'),
      v1: v.optional(v.string(), 'v1'),
    }),
    {},
  ),
  /** The path under which the gateway is mounted; a slash at its beginning, none at its end. */
  prefix: v.optional(
    v.pipe(v.string(), v.regex(/^(\/[\w.~-]+)*$/, 'a path such as /ai, without a slash at its end')),
    '',
  ),
  /** Names of surfaces; all that are there when absent. */
  surfaces: v.optional(v.array(v.string())),
  /** Keys that begin with sk_test; by default only in development. */
  testKeys: v.optional(v.boolean()),
  /** Proxies whose X-Forwarded-For is believed, as addresses or CIDR ranges. */
  trustedProxies: v.optional(
    v.array(v.pipe(v.string(), v.check(isAddressRange, 'an address or a range such as 10.0.0.0/8'))),
    [],
  ),
  cors: v.optional(
    v.strictObject({
      /** Origins whose pages may call with a key of their own, to the letter; no path that is closed to pages. */
      origins: v.optional(v.array(v.pipe(v.string(), v.check(isOrigin, 'an origin such as https://example.org'))), []),
    }),
    {},
  ),
  /** Organisations whose keys may reach what concerns all: the metrics, and a reload. */
  operators: v.optional(v.array(v.string()), ['default']),
  /** By the name that callers send. Empty: every model that the providers list, under its own name. */
  models: v.optional(v.record(v.string(), ModelSettings), {}),
  limits: v.optional(
    v.strictObject({
      key: limits(50, 100, 1_000_000, 2 * gib),
      organization: limits(200, 400, 4_000_000, 8 * gib),
      /** The keys of a team together. */
      team: v.optional(v.strictObject(budgets), {}),
      /** All keys together. */
      gateway: v.optional(v.strictObject(budgets), {}),
      budgets: v.optional(
        v.strictObject({
          window: v.optional(v.picklist(['calendar', 'rolling']), 'calendar'),
          /** Whose budgets refuse nothing and only warn. */
          soft: v.optional(v.array(v.picklist(holders)), []),
          /** What happens with a call of a model without a price where a budget holds. */
          unknownPrice: v.optional(v.picklist(['refuse', 'count']), 'refuse'),
          /** The receiver of messages about reached shares. */
          webhook: v.optional(Webhook),
        }),
        {},
      ),
      /** Of one key at once. */
      sealedStreams: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
      /** Requests without a valid key, from one address to one process. */
      keyless: v.optional(v.strictObject({ requestsPerSecond: limit(200) }), {}),
      /** Whether tokens that a backend's prompt cache held count against limits of tokens. They cost what they cost. */
      cachedTokens: v.optional(v.picklist(['free', 'counted']), 'free'),
      /** Whether the allowance of a day refills evenly or is whole again at midnight. */
      days: v.optional(v.picklist(['rolling', 'calendar']), 'rolling'),
      /** Whose midnight. */
      timeZone: v.optional(v.pipe(v.string(), v.check(isTimeZone, 'a time zone such as Europe/Berlin')), 'UTC'),
    }),
    {},
  ),
  /** By name: what differs from `limits.organization` and `files.quota`. */
  organizations: v.optional(
    v.record(
      v.string(),
      v.strictObject({
        limits: v.optional(OwnLimits, {}),
        quota: v.optional(v.strictObject({ bytes: ownLimit, files: ownLimit }), {}),
        /** By name: what differs from `limits.team`. */
        teams: v.optional(v.record(v.string(), OwnBudgets), {}),
      }),
    ),
    {},
  ),
  timeouts: v.optional(
    v.strictObject({
      /** One deadline over all attempts, in ms; a stream that has begun may outlive it. */
      total: v.optional(ms, 120_000),
      firstToken: v.optional(ms, 60_000),
      /** Between two chunks. */
      idle: v.optional(ms, 15_000),
      /** The longest a stream may run. */
      stream: v.optional(ms, 3_600_000),
      /** A reader that takes nothing of an answer for so long is cut. Only while bytes wait for it. */
      stalled: v.optional(ms, 30_000),
      /** The longest silence of a sealed stream, even where its backend may be silent for longer. */
      sealedIdle: v.optional(ms, 600_000),
      /** How long a call may run on after its key was revoked. */
      revoked: v.optional(ms, 1_000),
      heartbeat: v.optional(ms, 5_000),
      decision: v.optional(ms, 9_000),
    }),
    {},
  ),
  routing: v.optional(
    v.strictObject({
      retries: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(5)), 2),
      /** Opens after so many faults in a row, or when the share of faults over the last calls passes `ratio`. */
      breaker: v.optional(
        v.strictObject({
          faults: v.optional(count, 5),
          ratio: v.optional(v.number(), 0.5),
          rest: v.optional(ms, 10_000),
        }),
        {},
      ),
      /** Ask a second backend when the first is silent for so long; at most this share of calls. */
      hedge: v.optional(v.nullable(v.strictObject({ after: ms, share: v.optional(v.number(), 0.05) })), null),
      /** Who shares a part of a backend's prompt cache that callers name alike. */
      promptCaches: v.optional(v.picklist(['organization', 'shared']), 'organization'),
      /** False: each chat goes the long way. */
      straight: v.optional(v.boolean(), true),
    }),
    {},
  ),
  bodies: v.optional(
    v.strictObject({
      /** Bytes of a standard chat request. */
      chat: v.optional(count, 32 * 1024 * 1024),
      /** Bytes of a form with an audio file. */
      audio: v.optional(count, 25 * 1024 * 1024),
      /** Bytes of a stored file, decoded. */
      file: v.optional(count, 100 * 1024 * 1024),
      /** Values and containers in the JSON of one body. */
      elements: v.optional(count, 100_000),
      /** Members of one object in the JSON of a body; the body itself may have 256 at most. */
      members: v.optional(count, 4_096),
      /** Ms of work in a second for bodies on the main loop, after which the next body waits behind those of others. */
      time: v.optional(v.strictObject({ key: v.optional(count, 250), organization: v.optional(count, 500) }), {}),
      /** Bytes of bodies that stand in the memory of one process. A key that holds none may have one body of any length. */
      inMemory: v.optional(
        v.strictObject({
          key: v.optional(count, 128 * mib),
          organization: v.optional(count, 256 * mib),
          process: v.optional(count, 512 * mib),
        }),
        {},
      ),
      /** Bytes in a second that a body needs on its way in. */
      leastRate: v.optional(count, 1024),
    }),
    {},
  ),
  connections: v.optional(
    v.strictObject({
      /** Open at once in one process. */
      most: v.optional(count, 16_384),
      /** Of one address, as long as none of them has shown a valid key. */
      keyless: v.optional(count, 4_096),
      /** Ms in which the head of a request must be there. */
      head: v.optional(ms, 15_000),
      /** Who frames the chunks of a stream: the gateway in one write for each event, or Node in several. */
      chunks: v.optional(v.picklist(['own', 'node']), 'own'),
    }),
    {},
  ),
})

/** The settings after the check, with every default in its place. Those of plugins are read by their sections. */
export type Settings = v.InferOutput<typeof SettingsShape>

/** A model as an operator writes it. */
export type ModelInput = v.InferInput<typeof ModelSettings> & MemberInputs

/** The settings as an operator writes them: every field may be absent. */
export type SettingsInput = Omit<v.InferInput<typeof SettingsShape>, 'models'> & {
  models?: Record<string, ModelInput | RowInputs[keyof RowInputs]> | undefined
} & SectionInputs

/** The settings of one model after the check. */
export type ModelSettings = v.InferOutput<typeof ModelSettings>
/** Limits of a key or an organisation. Null in a field means no limit. */
export type Limits = Settings['limits']['key']
/** Budgets alone, for teams and for the whole gateway. */
export type Budgets = Settings['limits']['gateway']

/** The port of the checked settings. Each generation has its own; parts that outlive reloads see those of the start. */
export const Settings = one<Settings>('Settings')

/** How a section knows its rows among the models. */
type Row = NonNullable<Section['row']>

const rowsIn = (sections: readonly Section[]): readonly Row[] => sections.flatMap(({ row }) => row ?? [])

const has = (value: unknown, member: string): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, member)

/** The shape of one model, with the members that sections have in each. */
export const modelWith = (sections: readonly Section[]) =>
  v.strictObject(Object.assign({}, ModelSettings.entries, ...sections.map(({ members }) => members)) as ModelEntries)

type ModelEntries = (typeof ModelSettings)['entries']

/** The shape of the models by their names. A row that has the member of a section is one of that section. */
export const modelsWith = (sections: readonly Section[]): v.GenericSchema => {
  const rows = rowsIn(sections)
  const model = modelWith(sections)
  const either = v.union([model, ...rows.map(({ shape }) => shape)])
  const chosen: v.GenericSchema = {
    ...either,
    '~run': (dataset, config) =>
      (rows.find(({ member }) => has(dataset.value, member))?.shape ?? model)['~run'](dataset, config),
  }
  return v.optional(v.record(v.string(), chosen), {})
}

/** Checked settings whose models are models alone; each section has its own rows. */
export const sorted = (settings: Settings, sections: readonly Section[]): Settings => {
  const all = Object.entries(settings.models)
  const named = sections.flatMap(({ name, row }) => (row === undefined ? [] : [{ name, member: row.member }]))
  if (named.length === 0) return settings
  const isRow = ([, model]: (typeof all)[number]) => named.some(({ member }) => has(model, member))
  const own = named.map(
    ({ name, member }) => [name, Object.fromEntries(all.filter(([, row]) => has(row, member)))] as const,
  )
  return { ...settings, ...Object.fromEntries(own), models: Object.fromEntries(all.filter((row) => !isRow(row))) }
}
