import * as v from 'valibot'
import { InsideShape } from '../../../plugins/sealed/enclave-settings.ts'
import { redisAddress } from '../../../plugins/storage/shared/redis-address.ts'
import { flaw } from '../../../core/plugin.ts'
import type { RowInputs } from '../../../core/ports/section.ts'
import { type ModelSettings, type SettingsInput, SettingsShape, modelsWith, timer } from '../../../core/settings.ts'
import { BackendEvidenceShape } from './backend-evidence.ts'
import { CollateralShape } from './collateral.ts'
import { SurfaceName, nameOfSurface } from './surfaces.ts'
import { withVariables } from './variables.ts'
import { sectionShapes, sections } from '../../memory/sections.ts'

const choice = v.looseObject({ use: v.string() })
const upstream = v.looseObject({
  use: v.string(),
  /** The evidence that the backend must give before it gets a request. */
  evidence: v.optional(BackendEvidenceShape),
})
/** `open` lets requests pass while Redis is down, and `closed` refuses them. */
const mode = v.picklist(['open', 'closed'])
/** In bytes of a unix socket's path: the system silently cuts a longer path. */
export const mostSocketPathBytes = 103
const isShort = (at: string): boolean => !at.startsWith('/') || Buffer.byteLength(at) <= mostSocketPathBytes
const place = v.pipe(v.string(), v.check(isShort, `the path of a socket, of ${mostSocketPathBytes} bytes at most`))

/** What stands among the models and is none. */
type ModelRow = RowInputs[keyof RowInputs] & { readonly upstreams?: undefined }

const models = modelsWith(sections) as v.OptionalSchema<
  v.GenericSchema<SettingsInput['models'], Record<string, ModelSettings | ModelRow>>,
  Record<string, never>
>

/** The shape of the file. A plugin checks its own settings. */
export const ConfigShape = v.strictObject({
  /** The JSON schema of this file, for editors. */
  $schema: v.optional(v.string()),
  ...SettingsShape.entries,
  ...sectionShapes,
  models,
  /** Chapters and surfaces. An own surface is the path or the package of its plugin, or that with its settings. */
  surfaces: v.optional(v.array(v.union([SurfaceName, choice]))),
  server: v.optional(
    v.strictObject({
      host: v.optional(v.string(), '127.0.0.1'),
      port: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535)), 8787),
      /** In ms after SIGTERM: new connections are still accepted, so that load balancers notice. */
      linger: v.optional(timer(0), 1_000),
      /** In ms after SIGTERM: the time for running requests. */
      drain: v.optional(timer(0), 600_000),
    }),
    {},
  ),
  log: v.optional(v.strictObject({ level: v.optional(v.picklist(['info', 'warn', 'error', 'silent']), 'info') }), {}),
  outside: v.optional(v.looseObject({}), {}),
  /** The keys are the names that a request may pin. */
  providers: v.optional(
    v.record(
      v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'a name of lower-case letters, digits and dashes')),
      upstream,
    ),
    {},
  ),
  storage: v.optional(v.strictObject({ blobs: v.optional(choice), metadata: v.optional(choice) }), {}),
  limits: v.optional(
    v.strictObject({
      ...SettingsShape.entries.limits.wrapped.entries,
      /** The Redis that shares limits and cache. Without it, each process has its own. */
      redis: v.optional(redisAddress),
      /** In ms: after this time without an answer, Redis counts as down. A request waits at most this long for Redis. */
      patience: v.optional(timer(), 40),
      whenDown: v.optional(
        v.strictObject({
          places: v.optional(mode),
          tokens: v.optional(mode),
          requests: v.optional(mode),
          money: v.optional(mode),
        }),
        {},
      ),
    }),
    {},
  ),
  /** Null serves without sealing: no enclave is started, and sealed routes say that there is none. */
  enclave: v.optional(
    v.nullable(
      v.strictObject({
        ...InsideShape.entries,
        /** Running enclave processes: unix sockets or host:port. The gateway starts one when absent. */
        connect: v.optional(v.pipe(v.array(place), v.minLength(1))),
        /** The address where the enclave process listens. */
        listen: v.optional(place),
        /** Files. Both sides need them unless the line is a unix socket. */
        tls: v.optional(v.strictObject({ ca: v.string(), cert: v.string(), key: v.string() })),
        /** The enclave's own providers; the gateway's providers when absent. */
        providers: v.optional(v.record(v.string(), upstream)),
        evidence: v.optional(choice),
        /** Guards of sealed chats by name, with their settings, in their order; none when absent. */
        guards: v.optional(v.record(v.string(), v.looseObject({}))),
        /** The sources of certificates, lists and platform data that the gateway adds to evidence. */
        collateral: v.optional(CollateralShape),
        /** Files with signed lists. The signatures of each stand beside it as `.sig`. */
        releases: v.optional(v.string()),
        notices: v.optional(v.string()),
        /** Serves development evidence in production. */
        allowDev: v.optional(v.boolean(), false),
      }),
    ),
    {},
  ),
  /** The served tools by name, with their settings; all tools when absent. */
  tools: v.optional(v.record(v.string(), v.looseObject({}))),
  /** The used readers by name, with their settings; all when absent. The first reader that fits a file reads it. */
  readers: v.optional(v.record(v.string(), v.looseObject({}))),
  /** Guards of chats in the clear by name, with their settings, in their order; none when absent. */
  guards: v.optional(v.record(v.string(), v.looseObject({}))),
})

type Whole = v.InferOutput<typeof ConfigShape>

/** A configuration with its variables replaced and all defaults filled in. */
export type Config = Omit<Whole, 'enclave'> & {
  readonly enclave: NonNullable<Whole['enclave']>
  /** False where `enclave` is null. */
  readonly sealing: boolean
}

/** The models of a configuration without rows of sections. */
export const plainModels = ({ models }: Pick<Config, 'models'>): Readonly<Record<string, ModelSettings>> =>
  Object.fromEntries(
    Object.entries(models).flatMap(([name, model]) => (model.upstreams === undefined ? [] : [[name, model]])),
  )

/** The settings of an enclave that stands nowhere. */
const noEnclave = { enclave: {} } as const

/** Throws at the first fault, with its path. A fault never shows the value, which may be a secret. */
export const checkedConfig = (config: unknown, env: NodeJS.ProcessEnv): Config => {
  const result = v.safeParse(ConfigShape, withVariables(config, env))
  if (!result.success) throw new Error(flaw(result.issues[0]))
  const { enclave, ...rest } = result.output
  return { ...rest, enclave: enclave ?? v.parse(ConfigShape, noEnclave).enclave!, sealing: enclave !== null }
}

/** The settings of the gateway itself. The rest of the file configures stores, processes and plugins. */
export const settingsOf = ({
  server,
  log,
  outside,
  providers,
  storage,
  enclave,
  sealing,
  tools,
  readers,
  guards,
  surfaces,
  $schema,
  ...rest
}: Config): SettingsInput => {
  const { redis, patience, whenDown, ...limits } = rest.limits
  return { ...rest, limits, ...(surfaces && { surfaces: surfaces.map(nameOfSurface) }) }
}
