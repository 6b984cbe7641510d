import { plugin } from '../../core/plugin.ts'
import { ProofWitness } from '../../core/ports/proof-witness.ts'

/** Hears nothing. */
export const unproved = plugin({
  port: ProofWitness,
  name: 'unproved',
  create: (): ProofWitness => ({ collateral: () => undefined, appraised: () => undefined, ailing: () => [] }),
})
