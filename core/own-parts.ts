import { Audit, audit } from './access/audit.ts'
import { keyring } from './access/keyring.ts'
import type { Container, Fitting, Port } from './container.ts'
import { CurrentGeneration } from './generations/current.ts'
import { type Again, Reload, reloading } from './generations/reload.ts'
import { currentTrace } from './http/following.ts'
import { Lifecycle } from './lifecycle.ts'
import { plugin, use } from './plugin.ts'
import { CurrentTrace } from './ports/observer.ts'
import { Log } from './ports/platform.ts'
import { type FetchRequest, OwnFetch } from './ports/surface.ts'
import { Settings } from './settings.ts'
import { Siblings } from './ports/cluster.ts'
import { Ledger } from './ports/ledger.ts'

/** What the core's own parts are given. */
interface Given {
  readonly again: Again | null
  readonly settings: Settings
  readonly lifecycle: Lifecycle
  readonly supply: Container['supply']
  readonly fetch: FetchRequest
}

const given = <T>(port: Port<T>, name: string, part: T): Fitting<T> =>
  use(plugin({ port, name, create: () => part as never }))

/** Parts that every gateway has: another part of the same port takes the place of the first three. */
export const ownParts = ({ again, settings, lifecycle, supply, fetch }: Given): readonly Fitting<unknown>[] => [
  ...[use(alone), use(uncounted), use(keyring), use(audit)],
  given(CurrentTrace, 'current', currentTrace),
  given(Settings, 'settings', settings),
  given(Lifecycle, 'lifecycle', lifecycle),
  given(OwnFetch, 'own-fetch', fetch),
  given(CurrentGeneration, 'current-generation', { supply }),
  use(
    plugin({
      port: Reload,
      name: 'reload',
      needs: { audit: Audit, log: Log },
      create: ({ audit, log }) => reloading(again, audit, log),
    }),
  ),
]

/** A process without siblings. */
export const alone = plugin({ port: Siblings, name: 'alone', create: () => ({ measured: async () => [] }) })

/** The ledger of a gateway that is given none: limits hold, and no use is recorded. */
const uncounted = plugin({
  port: Ledger,
  name: 'uncounted',
  create: (): Ledger => ({ open: () => 0, settle() {}, keep() {}, cancel() {} }),
})
