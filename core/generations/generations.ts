import * as v from 'valibot'
import type { Container, Needs, Supplied } from '../container.ts'
import { type Generation, type Renewable, generation } from './generation.ts'
import { forgetModels } from '../inference/models/model-lists.ts'
import { lazy } from '../lazy.ts'
import { flaw } from '../plugin.ts'
import { Cache } from '../ports/cache.ts'
import { Enclave } from '../ports/enclave.ts'
import type { Renewal } from './reload.ts'
import { type Settings, type SettingsInput, SettingsShape } from '../settings.ts'

/** The comparison of fixed settings loads with the first reload. */
const fixing = lazy(() => import('../fixed-settings.ts'))

/** Throws with the path of the wrong setting. */
export const checkedSettings = (settings: SettingsInput): Settings => {
  const checked = v.safeParse(SettingsShape, settings)
  if (!checked.success) throw new Error(`settings: ${flaw(checked.issues[0])}`)
  return checked.output
}

/** The current generation for new requests, and older ones until their last request has ended. */
export const generations = (
  base: Container,
  renewable: Renewable,
  settings: Settings,
  prepared: (next: Generation) => () => void,
) => {
  let given = renewable
  let current = generation(base, renewable, settings)
  const alive = new Set([current])
  const drop = async (it: Generation): Promise<void> => {
    alive.delete(it)
    await it.dispose()
  }
  try {
    prepared(current)()
  } catch (error) {
    void drop(current).catch(() => undefined)
    throw error
  }

  return {
    /** Supplies the parts of the current generation. */
    supply: <N extends Needs>(needs: N): Supplied<N> => current.supply(needs),
    /** All steps that may fail come before the switch, which cannot fail. */
    async renew(renewal: Renewal): Promise<void> {
      const told = checkedSettings(renewal.settings)
      const { firstDifference, fixedSettings } = await fixing()
      const fixed = firstDifference(fixedSettings, settings, told)
      if (fixed !== null) throw new Error(`${fixed} can't be changed while the gateway runs`)
      const parts: Renewable = { ...given, ...renewal }
      const next = generation(base, parts, told)
      alive.add(next)
      try {
        const turn = prepared(next)
        // A new enclave process has no keys yet.
        if (parts.enclave !== given.enclave) await next.supply({ enclave: Enclave }).enclave.keys()
        const { cache } = base.supply({ cache: Cache })
        const others = parts.upstreams.filter((upstream) => !given.upstreams.includes(upstream))
        await Promise.all(others.map(({ name }) => forgetModels(cache, name)))
        turn()
      } catch (error) {
        await drop(next)
        throw error
      }
      const before = current
      current = next
      given = parts
      before.retire(() => alive.delete(before))
    },
    /** The generation for a request that begins now. */
    current: () => current,
    /** Ends every generation, also those whose requests still run. */
    dispose: () => Promise.all([...alive].map((it) => it.dispose())),
  }
}
