import type { Container, Fitting } from '../container.ts'
import { plugin, use } from '../plugin.ts'
import type { Enclave } from '../ports/enclave.ts'
import type { Guard } from '../ports/guard.ts'
import { Clock, Log } from '../ports/platform.ts'
import type { Tool } from '../ports/tool.ts'
import type { Upstream } from '../ports/upstream.ts'
import { Settings } from '../settings.ts'
import { refuseTwins } from './refuse-misfits.ts'

/** The parts of a gateway that a reload can replace. An unchanged fitting keeps its instance. */
export interface Renewable {
  readonly upstreams: readonly Fitting<Upstream>[]
  /** An enclave, or how it is made around the backends and tools of the environment. */
  readonly enclave: Fitting<Enclave> | EnclaveAround
  readonly tools: readonly Fitting<Tool>[]
  /** Guards of chats in the clear, in their order; none when absent. */
  readonly guards?: readonly Fitting<Guard>[]
}

/** Gives an enclave of these backends and tools: the same one as long as they are the same. */
export type EnclaveAround = (inside: Pick<Renewable, 'upstreams' | 'tools'>) => Fitting<Enclave>

/** The enclave of an environment. */
export const enclaveOf = ({ enclave, upstreams, tools }: Renewable): Fitting<Enclave> =>
  typeof enclave === 'function' ? enclave({ upstreams, tools }) : enclave

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

/**
 * `parts` are made anew for each generation. It is disposed of a moment after the last request, in which its counts are
 * still written.
 */
export const generation = (
  base: Container,
  { upstreams, enclave, tools, guards = [] }: Renewable & { readonly enclave: Fitting<Enclave> },
  parts: readonly Fitting<unknown>[],
  settings: Settings,
): Generation => {
  const container = base.child()
  const { clock, log } = base.supply({ clock: Clock, log: Log })
  refuseTwins('upstreams', upstreams)
  for (const fitting of [...upstreams, enclave]) container.share<unknown>(fitting)
  const own = use(plugin({ port: Settings, name: 'settings', create: () => settings }))
  for (const fitting of [own, ...tools, ...guards, ...parts]) container.fit<unknown>(fitting)

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
