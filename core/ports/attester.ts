import { one } from '../container.ts'
import type { Evidence } from './enclave.ts'

/** What proves where an enclave runs. */
export interface Prover {
  /** Evidence over these 64 bytes. Throws Unavailable when the platform gives none. */
  prove(reportData: Uint8Array): Promise<Evidence>
  /** SHA-256 of the release, as the platform or the operator knows it. */
  readonly platform: string
  dispose?(): Promise<void>
}

export const Prover = one<Prover>('Prover')
