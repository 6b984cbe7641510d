import * as v from 'valibot'
import { InsideShape } from '../../core/inside-settings.ts'
import { flaw } from '../../core/plugin.ts'
import { type SettingsInput, SettingsShape } from '../../core/settings.ts'

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
  ...SettingsShape.entries,
  server: v.optional(
    v.strictObject({
      host: v.optional(v.string(), '127.0.0.1'),
      port: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535)), 8787),
      /** Ms after SIGTERM in which new connections are still taken, so that whoever sends them can see that it should stop. */
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
        v.strictObject({ places: v.optional(mode), tokens: v.optional(mode), requests: v.optional(mode) }),
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
    }),
    {},
  ),
  /** Only these, by name, with their settings; all that are found when absent. */
  tools: v.optional(v.record(v.string(), v.looseObject({}))),
})

export type Config = v.InferOutput<typeof ConfigShape>

export const checkedConfig = (config: unknown, env: NodeJS.ProcessEnv): Config => {
  const result = v.safeParse(ConfigShape, filled(config, env))
  if (!result.success) throw new Error(flaw(result.issues[0]))
  return result.output
}

/** What the gateway itself is told; the rest of the file is about what it stands on. */
export const settingsOf = ({
  server,
  log,
  outside,
  providers,
  storage,
  enclave,
  tools,
  ...rest
}: Config): SettingsInput => {
  const { redis, patience, whenDown, ...limits } = rest.limits
  return { ...rest, limits }
}

/** Replaces each `$NAME` by the environment variable; a missing one stops the boot. */
const filled = (it: unknown, env: NodeJS.ProcessEnv, path = ''): unknown => {
  if (typeof it === 'string' && /^\$[A-Za-z_]\w*$/.test(it)) {
    const value = env[it.slice(1)]
    if (!value) throw new Error(`${path}: ${it} is not set`)
    return value
  }
  const below = (key: string | number) => (path === '' ? String(key) : `${path}.${key}`)
  if (Array.isArray(it)) return it.map((each, index) => filled(each, env, below(index)))
  if (typeof it !== 'object' || it === null) return it
  return Object.fromEntries(Object.entries(it).map(([key, each]) => [key, filled(each, env, below(key))]))
}
