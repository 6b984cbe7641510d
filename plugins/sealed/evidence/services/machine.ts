import type { EvidenceMembers } from '../fields.ts'
import type { PlatformFacts } from '../finding.ts'
import type { ServiceLists } from './service-policy.ts'

/** The services whose documents are known. */
export const services = ['tinfoil', 'dstack', 'near'] as const
export type Service = (typeof services)[number]

/** A key that a machine's report binds, in hex. A client seals to it, or expects it of a connection. */
export interface BoundKey {
  /** `tls` is SHA-256 of the SubjectPublicKeyInfo; the others are the public key itself. */
  readonly use: 'tls' | 'x25519-hpke' | 'ed25519' | 'secp256k1-address'
  readonly key: string
}

/** A machine of a service. Nothing of it is believed before its platform's evidence and its image hold. */
export interface Machine {
  /** `manager` is the same machine as the model before it: what was started there later. */
  readonly role: 'machine' | 'gateway' | 'model' | 'manager'
  readonly platform: 'sev-snp' | 'tdx'
  /** The report or the quote. */
  readonly report: Uint8Array
  /** The nonce that its report binds. */
  readonly nonce: Uint8Array
  /** The 64 bytes that its report must hold. */
  readonly reportData: Uint8Array
  readonly keys: readonly BoundKey[]
  /** Throws unless the lists name this image. Returns a name of the image for people. */
  checkImage(facts: PlatformFacts, lists: ServiceLists): string | Promise<string>
  /** What the service lays beside for its GPUs, in a form that is not judged. */
  readonly hasRawGpuEvidence: boolean
}

/** Reads a service's document. Throws `evidence_malformed` for another form. */
export type ReadService = (text: string) => Promise<readonly Machine[]>

/** Completes the evidence of a machine by certificates and lists, which need no trust. */
export type Complete = (platform: Machine['platform'], report: Uint8Array) => Promise<EvidenceMembers>
