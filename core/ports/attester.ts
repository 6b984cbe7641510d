import { one } from '../container.ts'
import type { Evidence } from './enclave.ts'

/** Proves where an enclave runs. */
export interface Prover {
  /** Evidence over these 64 bytes. Throws Unavailable when the platform gives none. */
  prove(reportData: Uint8Array): Promise<Evidence>
  /** The name of the platform. */
  readonly platform: string
  dispose?(): Promise<void>
}

export const Prover = one<Prover>('Prover')
