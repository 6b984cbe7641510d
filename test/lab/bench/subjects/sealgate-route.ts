import * as v from 'valibot'
import cache from '../../../../adapters/memory/cache.ts'
import { clock, fetch, log, random } from '../../../../adapters/memory/platform.ts'
import metadataStore from '../../../../adapters/memory/metadata-store.ts'
import rateLimiter from '../../../../adapters/memory/rate-limiter.ts'
import { Keyring, keyring } from '../../../../core/access/keyring.ts'
import { app } from '../../../../core/http/app.ts'
import { errorEnvelope, json } from '../../../../core/http/reply.ts'
import { alone } from '../../../../core/own-parts.ts'
import { metrics } from '../../../../plugins/observers/prometheus/metrics.ts'
import { route } from '../../../../core/http/route.ts'
import { serverFor } from '../../../../core/http/server.ts'
import { plugin, use } from '../../../../core/plugin.ts'
import { Clock, Random } from '../../../../core/ports/platform.ts'
import { Settings, SettingsShape } from '../../../../core/settings.ts'
import admin from '../../../../plugins/surfaces/admin.ts'
import toolsSurface from '../../../../plugins/surfaces/tools.ts'
import { fitted } from '../../../fitted.ts'
import { answering } from './answering.ts'

const noop = route({
  method: 'POST',
  path: '/noop',
  summary: 'Does nothing.',
  access: { scope: 'tools.execute' },
  body: { read: 'json', schema: v.object({ name: v.string() }), bytes: 65536 },
  needs: {},
  handle: ({ input }) => json({ ok: typeof input.name === 'string' }),
})

const settings = v.parse(SettingsShape, {
  limits: { key: { requestsPerSecond: 1e9, concurrentRequests: 1000 }, organization: { requestsPerSecond: 1e9 } },
})
const container = fitted(
  ...[clock, random, fetch, log, cache, metadataStore, rateLimiter, keyring, metrics, alone].map((plugin) =>
    use<any, any, any>(plugin),
  ),
  use(plugin({ port: Settings, name: 'settings', create: () => settings })),
)
const supplied = container.supply({ keys: Keyring, clock: Clock, random: Random })
await supplied.keys.create({}, process.env['KEY'])
// Beside all the routes of the interface, as in use.
const { listener, prepared } = app(
  {
    routes: [...admin.create({}, {}, 'admin').routes, ...toolsSurface.create({}, {}, 'tools').routes, noop],
    lost: { sentence: () => '', form: () => errorEnvelope },
    isClosed: () => false,
  },
  container,
)
/** Every credential is a key. */
const supply = () => ({ credentials: [] }) as never
prepared({ settings, supply, begin() {}, end() {}, retire() {}, dispose: async () => {} })()
answering(serverFor(listener, settings, supplied.clock, supplied.random))
