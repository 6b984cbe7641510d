import { one } from '../container.ts'
import type { Evidence } from './enclave.ts'

/** Proves where an enclave runs. */
export interface Prover {
  /** Evidence over these 64 bytes. Throws Unavailable when the platform gives none. */
  prove(reportData: Uint8Array): Promise<Evidence>
  /** The name of the platform. */
  readonly platform: string
  /** Releases what the platform gave, such as an open device. Called once, when the enclave ends. */
  dispose?(): Promise<void>
}

/** Each enclave has exactly one prover. The gateway itself has none, since it holds no keys to prove. */
export const Prover = one<Prover>('Prover', { platform: 'text', prove: 'function' })
