import * as v from 'valibot'
import { InsideShape } from '../../../core/enclave-settings.ts'
import { flaw } from '../../../core/plugin.ts'
import { type SettingsInput, SettingsShape } from '../../../core/settings.ts'
import { CollateralShape } from './collateral.ts'
import { filled } from './variables.ts'

const choice = v.looseObject({ use: v.string() })
const mode = v.picklist(['open', 'closed'])
/** Of a unix socket; a longer path would be cut in silence. */
const longest = 103
const place = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    if (dataset.typed && dataset.value.startsWith('/') && Buffer.byteLength(dataset.value) > longest) {
      addIssue({ expected: `the path of a socket, of ${longest} bytes at most`, message: 'Too long for a socket' })
    }
  }),
)
const ms = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The shape of the file. What stands inside a choice belongs to the plugin that it names. */
export const ConfigShape = v.strictObject({
  /** The JSON schema of this file, for editors. */
  $schema: v.optional(v.string()),
  ...SettingsShape.entries,
  server: v.optional(
    v.strictObject({
      host: v.optional(v.string(), '127.0.0.1'),
      port: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535)), 8787),
      /** Ms after SIGTERM in which new connections are still accepted, so that load balancers notice. */
      linger: v.optional(ms, 1_000),
      /** Ms that running requests are given after SIGTERM. */
      drain: v.optional(ms, 600_000),
    }),
    {},
  ),
  log: v.optional(v.strictObject({ level: v.optional(v.picklist(['info', 'warn', 'error', 'silent']), 'info') }), {}),
  outside: v.optional(v.looseObject({}), {}),
  /** By the name that a request may pin. */
  providers: v.optional(v.record(v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,63}$/)), choice), {}),
  storage: v.optional(v.strictObject({ blobs: v.optional(choice), metadata: v.optional(choice) }), {}),
  limits: v.optional(
    v.strictObject({
      ...SettingsShape.entries.limits.wrapped.entries,
      /** Limits and cache are shared over this Redis; without it they are this process's own. */
      redis: v.optional(v.string()),
      /** Ms without an answer after which Redis counts as down; this is also the most that it may add to a request. */
      patience: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 40),
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
  enclave: v.optional(
    v.strictObject({
      ...InsideShape.entries,
      /** Confidential processes that run elsewhere: unix sockets or host:port; one is started when absent. */
      connect: v.optional(v.pipe(v.array(place), v.minLength(1))),
      /** Where the confidential process itself listens. */
      listen: v.optional(place),
      /** Files; both sides need them unless the line is a unix socket. */
      tls: v.optional(v.strictObject({ ca: v.string(), cert: v.string(), key: v.string() })),
      /** Its own providers; those of the gateway when absent. */
      providers: v.optional(v.record(v.string(), choice)),
      evidence: v.optional(choice),
      /** Where the gateway finds certificates, lists and platform data beside the evidence. */
      collateral: v.optional(CollateralShape),
      /** Files with signed lists, each with its signatures beside it as `.sig`. */
      releases: v.optional(v.string()),
      notices: v.optional(v.string()),
      /** Serve development evidence in production all the same. */
      allowDev: v.optional(v.boolean(), false),
    }),
    {},
  ),
  /** Only these, by name, with their settings; all that are found when absent. */
  tools: v.optional(v.record(v.string(), v.looseObject({}))),
  /** The same for readers of files; the first that fits a file reads it. */
  readers: v.optional(v.record(v.string(), v.looseObject({}))),
})

export type Config = v.InferOutput<typeof ConfigShape>

export const checkedConfig = (config: unknown, env: NodeJS.ProcessEnv): Config => {
  const result = v.safeParse(ConfigShape, filled(config, env))
  if (!result.success) throw new Error(flaw(result.issues[0]))
  return result.output
}

/** The settings of the gateway itself; the rest of the file configures stores, processes and plugins. */
export const settingsOf = ({
  server,
  log,
  outside,
  providers,
  storage,
  enclave,
  tools,
  readers,
  $schema,
  ...rest
}: Config): SettingsInput => {
  const { redis, patience, whenDown, ...limits } = rest.limits
  return { ...rest, limits }
}
