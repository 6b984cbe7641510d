import { plugin } from '../../core/plugin.ts'
import { ProofObserver } from '../../core/ports/proof-observer.ts'

/** Hears nothing. */
export const unproved = plugin({
  port: ProofObserver,
  name: 'unproved',
  create: (): ProofObserver => ({ collateral: () => undefined, appraised: () => undefined, ailing: () => [] }),
})
