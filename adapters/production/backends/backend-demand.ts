import type { BoundKey } from '../../../core/ports/backend-evidence.ts'
import type { PlatformPolicy } from '../../../plugins/sealed/evidence/policy.ts'
import type { Complete } from '../../../plugins/sealed/evidence/services/machine.ts'
import type { ServiceLists } from '../../../plugins/sealed/evidence/services/service-policy.ts'

/** What an upstream demands of its backend. */
export interface BackendDemand {
  /** The only origin that the upstream may reach. */
  readonly origin: string
  readonly policy: PlatformPolicy
  readonly certificate: 'authority' | 'any'
  /** In ms. */
  readonly renew: number
  readonly timeout: number
  /** What is accepted of a service that exists; absent for every other form. */
  readonly services?: ServiceDemand
}

/** The lists of the policy, and what completes a report by certificates and lists as of a time. */
export interface ServiceDemand {
  readonly lists: ServiceLists
  complete(now: number): Complete
}

/** What was proved of one connection. */
export interface ProvenChannel {
  readonly platform: string
  readonly measurement: string
  /** In ms: the end of the evidence. */
  readonly ends: number
  /** Keys to seal to; none for a form that binds the connection. */
  readonly keys: readonly BoundKey[]
}
