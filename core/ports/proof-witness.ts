import { one } from '../container.ts'

/** Is told how what proves the enclave stands, as a client would see it. */
export interface ProofWitness {
  /** Until when a client takes this piece, in ms; null when it is not at hand. */
  collateral(piece: string, until: number | null): void
  /** Why the gateway itself refuses the evidence of its own enclave; null when it holds. */
  appraised(reason: string | null): void
  /** What a client would refuse, by name. */
  ailing(): readonly string[]
}

export const ProofWitness = one<ProofWitness>('ProofWitness')
