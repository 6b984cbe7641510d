import type { Fitting } from '../../core/container.ts'
import type { EnclaveAround } from '../../core/adapters.ts'
import { Enclave } from '../../core/ports/enclave.ts'
import { Cache } from '../../core/ports/cache.ts'
import { Clock, Fetch, Log, Random } from '../../core/ports/platform.ts'
import { plugin, use } from '../../core/plugin.ts'
import dev from '../../plugins/evidence/dev.ts'
import rehearsal from '../../plugins/providers/rehearsal.ts'
import { buildEnclave } from '../../plugins/sealed/enclave/assemble.ts'
import { Inference } from '../../core/inference/inference.ts'
import { Catalog } from '../../core/inference/models/catalog.ts'
import cache from './cache.ts'
import { clock, log, random } from './platform.ts'
import { readers } from './readers.ts'

/** Ports that a backend or a tool may need inside. */
const inside = new Set([Clock, Random, Fetch, Log, Cache, Catalog, Inference].map(({ key }) => key))

/** A backend or a tool that needs a part of the gateway, such as its rows, works in the clear alone. */
const isSupplied = ({ needs = [] }: Fitting<unknown>): boolean =>
  needs.every(({ key, many }) => many || inside.has(key))

const isSame = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((each, at) => each === other[at])

/**
 * The enclave inside the gateway's process, of the environment's own backends and tools. Everything works, and the owner of
 * the process sees all plaintext. The rehearsal is there even where the environment has other backends.
 */
export const enclaveWithin = (): EnclaveAround => {
  let last: { readonly parts: readonly unknown[]; readonly fitting: Fitting<Enclave> } | null = null
  return ({ upstreams, tools }) => {
    const parts = [...upstreams, ...tools]
    if (last !== null && isSame(last.parts, parts)) return last.fitting
    const own = upstreams.some(({ name }) => name === 'rehearsal') ? [] : [use(rehearsal)]
    const fitting = use(
      plugin({
        port: Enclave,
        name: 'memory',
        needs: { fetch: Fetch },
        create: ({ fetch }): Enclave => {
          const enclaveParts = {
            ...{ clock: use(clock), random: use(random), log: use(log), cache: use(cache), prover: use(dev), readers },
            // The gateway closes its own doors.
            fetch: use(
              plugin({ port: Fetch, name: 'of-the-gateway', create: () => ({ ...fetch, dispose: async () => {} }) }),
            ),
            upstreams: [...upstreams.filter(isSupplied), ...own],
            tools: tools.filter(isSupplied),
          }
          return buildEnclave(enclaveParts, {}, {}, new Uint8Array(32))
        },
      }),
    )
    last = { parts, fitting }
    return fitting
  }
}
