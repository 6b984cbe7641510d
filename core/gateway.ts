import type { RequestListener, Server } from 'node:http'
import type { Adapters } from './adapters.ts'
import { Audit } from './access/audit.ts'
import { Keyring } from './access/keyring.ts'
import { Container, type Fitting } from './container.ts'
import { enclaveOf } from './generations/generation.ts'
import { refuseMisfits } from './generations/refuse-misfits.ts'
import { type SettingsCheck, generations, settingsCheck } from './generations/generations.ts'
import { type Again, type Renew, Reload } from './generations/reload.ts'
import { partsByLife } from './generations/supplied.ts'
import { app, drained } from './http/app.ts'
import { interfaceOf } from './http/interface.ts'
import { withoutPrefix } from './http/prefix.ts'
import { serverFor } from './http/server.ts'
import { inference } from './inference/inference.ts'
import { lazy, use } from './plugin.ts'
import { stagesOf } from './lifecycle.ts'
import { ownParts } from './own-parts.ts'
import { Front } from './ports/front.ts'
import { Clock, Random } from './ports/platform.ts'
import { Started } from './ports/started.ts'
import { type FetchRequest, Surface } from './ports/surface.ts'
import { Settings, type SettingsInput } from './settings.ts'

export type { Adapters, WholeAdapters } from './adapters.ts'

const web = lazy(() => import('./http/fetch.ts'))

/** What a gateway lends of its parts. What has to start with it is made here. */
const lent = { keys: Keyring, audit: Audit, reload: Reload, clock: Clock, random: Random, started: Started }

/** A started gateway: its parts stay the same objects through every reload of the configuration. */
export interface Gateway {
  /** Names of the surfaces that are served. */
  readonly surfaces: readonly string[]
  /** For `http.createServer`, or behind any framework that hands over Node's own request and response. */
  readonly listener: RequestListener
  /** The same without Node's server: for frameworks of the web's own requests, and for tests that need no port. */
  readonly fetch: FetchRequest
  /** A server of our own around it, not yet listening: what Node itself refuses is answered in the envelope too. */
  server(): Server
  readonly keys: Keyring
  readonly audit: Audit
  /** What `again` does, with its row in the audit. */
  readonly reload: Reload
  readonly renew: Renew
  /** Parts by their ports, as a request that begins now has them. */
  readonly supply: Container['supply']
  /** Readiness is 503 until the function that this gives is called. */
  hold(): () => void
  /** Readiness turns; resolves when nothing is under way any more, or after `ms`, and says how many requests were left. */
  drain(ms: number): Promise<number>
  /** Closes what the adapters opened. Drain first. */
  close(): Promise<void>
}

/** Makes a gateway. `again` reads the gateway's configuration anew when a caller asks for a reload. */
export const createGateway = (adapters: Adapters, settings?: SettingsInput, again: Again | null = null): Gateway => {
  refuseMisfits(adapters)
  const { surfaces = [], parts = [], sections } = adapters
  const checks = settingsCheck([...surfaces, ...parts], sections)
  const checked = checks.check(settings ?? adapters.settings ?? {})
  const base = new Container()
  try {
    return assembled(base, adapters, checked, checks, again)
  } catch (error) {
    void base.dispose().catch(() => undefined)
    throw error
  }
}

const assembled = (
  base: Container,
  adapters: Adapters,
  settings: Settings,
  checks: SettingsCheck,
  again: Again | null,
): Gateway => {
  const { upstreams, enclave, tools, guards = [], surfaces = [], parts = [], ...rest } = adapters
  const { catalog, meter, middleware = [], settings: _, sections: __, ...given } = rest
  const anew = [catalog, use(inference), meter]
  const { lifecycle, ...stages } = stagesOf()
  const supply: Container['supply'] = (needs) => eras.supply(needs)
  const fetch: FetchRequest = async (request, options) => (await fetching())(request, options)
  const own = ownParts({ again, settings, lifecycle, supply, fetch })
  const always = [...own, ...Object.values(given)] as Fitting<unknown>[]
  const { lasting, renewed, isFitted } = partsByLife(parts, [...always, ...anew, enclaveOf(adapters)])
  for (const fitting of [...always, ...lasting, ...surfaces]) base.fit<unknown>(fitting)
  const shown = interfaceOf(
    { ...base.supply({ fronts: Front, surfaces: Surface }), fittings: surfaces, isFitted },
    settings,
  )
  const served = app(shown, base, middleware)
  const eras = generations(
    base,
    { upstreams, enclave, tools, guards },
    [...anew, ...renewed],
    settings,
    checks,
    served.prepared,
  )
  const { clock, random, keys, audit, reload, started } = base.supply(lent)
  const listener = withoutPrefix(settings.prefix, served.listener)
  const fetching = lazy(async () => (await web()).fetchOf(listener))

  return {
    ...{ keys, audit, reload, listener, fetch, supply, surfaces: shown.names, renew: eras.renew, hold: stages.hold },
    server() {
      const server = serverFor(listener, settings, clock, random)
      for (const { served } of [...started, ...shown.routes]) served?.(server, listener)
      return server
    },
    drain: (ms) => drained(stages.drain, served, clock, ms),
    async close() {
      stages.close()
      await eras.dispose().finally(() => base.dispose())
    },
  }
}
