import { loginCodes } from '../access/login-codes.ts'
import { logins } from '../access/logins.ts'
import type { Container, Fitting } from '../container.ts'
import { fileStore } from '../files/file-store.ts'
import { indexing } from '../files/indexing.ts'
import { backends } from '../inference/backends/backends.ts'
import { inference } from '../inference/inference.ts'
import { catalog } from '../inference/models/catalog.ts'
import { meter } from '../inference/metering/meter.ts'
import { receiptLog } from '../receipts/receipt-log.ts'
import { type AnyPlugin, plugin, use } from '../plugin.ts'
import type { Enclave } from '../ports/enclave.ts'
import type { Guard } from '../ports/guard.ts'
import { Clock, Log } from '../ports/platform.ts'
import type { Tool } from '../ports/tool.ts'
import type { Upstream } from '../ports/upstream.ts'
import { Settings } from '../settings.ts'

/** The parts of a gateway that a reload can replace. An unchanged fitting keeps its instance. */
export interface Renewable {
  readonly upstreams: readonly Fitting<Upstream>[]
  readonly enclave: Fitting<Enclave>
  readonly tools: readonly Fitting<Tool>[]
  /** Guards of chats in the clear, in their order; none when absent. */
  readonly guards?: readonly Fitting<Guard>[]
}

/** The plugins and settings of a request from its begin to its end, across reloads. */
export interface Generation {
  readonly settings: Settings
  readonly supply: Container['supply']
  /** Counts a request that begins; each `begin` has one `end`. */
  begin(): void
  end(): void
  /** No request begins with this generation any more. The generation is disposed after its last request. */
  retire(gone: () => void): void
  dispose(): Promise<void>
}

/** In ms: the time for the remaining work of an ended request, such as its counts. */
const after = 1_000

/** Plugins that a generation makes anew, since they depend on settings, backends or the enclave. */
const parts: readonly AnyPlugin[] = [
  catalog,
  inference,
  backends,
  logins,
  loginCodes,
  meter,
  fileStore,
  indexing,
  receiptLog,
]

/** Disposed a moment after the last request, in which its counts are still written. */
export const generation = (base: Container, renewable: Renewable, settings: Settings): Generation => {
  const container = base.child()
  const { clock, log } = base.supply({ clock: Clock, log: Log })
  const { upstreams, enclave, tools, guards = [] } = renewable
  for (const fitting of [...upstreams, enclave]) container.share<unknown>(fitting)
  const own = [use(plugin({ port: Settings, name: 'settings', create: () => settings })), ...tools, ...guards]
  for (const fitting of [...own, ...parts.map((part) => use(part))]) container.fit<unknown>(fitting)

  let active = 0
  let left: (() => void) | null = null
  let over: Promise<void> | null = null
  const dispose = () => (over ??= container.dispose())
  const rest = () => {
    if (left === null || active > 0) return
    const gone = left
    clock.alarm(
      after,
      () =>
        void dispose()
          .catch((cause: unknown) => log.error('reload.kept', {}, cause))
          .then(gone),
    )
  }

  return {
    settings,
    supply: container.supply,
    begin() {
      active++
    },
    end() {
      active--
      rest()
    },
    retire(gone) {
      left = gone
      rest()
    },
    dispose,
  }
}
