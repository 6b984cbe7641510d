import { unlessAborted } from '../../abort.ts'
import type { Clock, Log } from '../../ports/platform.ts'
import type { Upstream } from '../../ports/upstream.ts'
import { statusOf } from '../routing/failover.ts'

/** A provider that refuses the key that the configuration gives for it. */
export interface RefusedKey {
  readonly provider: string
  readonly status: number
}

/** Ms that a provider has to answer. */
const patience = 5_000

const refusals: ReadonlySet<number | null> = new Set([401, 402, 403])

/** Asks every provider for its models, once. Whoever refuses the key is logged; any other failure is no word on the key. */
export const refusedKeys = async (
  upstreams: readonly Upstream[],
  clock: Clock,
  log: Log,
): Promise<readonly RefusedKey[]> => {
  const asked = upstreams.map(async (upstream): Promise<RefusedKey | null> => {
    const controller = new AbortController()
    const alarm = clock.alarm(patience, () => controller.abort(new Error('No answer in time')))
    try {
      await unlessAborted(upstream.models(controller.signal), controller.signal)
      return null
    } catch (cause) {
      const status = statusOf(cause)
      if (status === null || !refusals.has(status)) return null
      log.error('provider.refused', { provider: upstream.name, status }, cause)
      return { provider: upstream.name, status }
    } finally {
      alarm.off()
    }
  })
  return (await Promise.all(asked)).filter((it) => it !== null)
}
