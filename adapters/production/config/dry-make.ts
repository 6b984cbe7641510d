import type { Fitting, Needs, Supplied } from '../../../core/container.ts'
import { Clock, Log, Random } from '../../../core/ports/platform.ts'
import { system } from '../../memory/platform.ts'

/** Stands for a part that a plugin needs: whatever is asked of it gives the same again, and nothing happens. */
const inert: unknown = new Proxy(() => inert, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => 0 : name === 'then' ? undefined : inert),
  apply: () => inert,
})

const silent: Log = { info() {}, warn() {}, error() {} }

const real: ReadonlyMap<symbol, unknown> = new Map<symbol, unknown>([
  [Clock.key, system.clock],
  [Random.key, system.random],
  [Log.key, silent],
])

const supply = <N extends Needs>(needs: N): Supplied<N> =>
  Object.fromEntries(
    Object.entries(needs).map(([name, port]) => [name, port.many ? [] : (real.get(port.key) ?? inert)]),
  ) as Supplied<N>

/** Makes a part of an operator's own plugin apart from any gateway, and ends it. Throws what its making throws. */
export const makeDry = async (fitting: Fitting<unknown>): Promise<void> => {
  const part = fitting.make(supply) as { dispose?(): Promise<void> | void }
  await part.dispose?.()
}
