import { one } from '../container.ts'

/** Observes the state of the enclave's evidence, as a client would judge it. */
export interface ProofObserver {
  /** The time in ms until which clients accept this piece; null when the piece is missing. */
  collateral(piece: string, until: number | null): void
  /** The reason for which the gateway itself refuses its enclave's evidence; null when the evidence is valid. */
  appraised(reason: string | null): void
  /** The names of the pieces that a client would refuse. */
  ailing(): readonly string[]
}

/** The name in quotes is the port's name of 1.0.0. */
export const ProofObserver = one<ProofObserver>('ProofWitness')
