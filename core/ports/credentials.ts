import type { Caller } from '../access/caller.ts'
import { many } from '../container.ts'

/** A credential that was found, ready for use. */
export interface Holder {
  readonly caller: Caller
  /** Whether the credential may be used from there; null stands for an unknown address. */
  admits(address: string | null): boolean
}

/** A kind of credentials beside keys, such as tokens of an issuer or sessions of a page. */
export interface Credentials {
  /** Whether a credential is of this kind, by its form alone. */
  takes(credential: string): boolean
  /** Null for every bad credential; only the log has the reason. Throws Unavailable while it can't be checked. */
  find(credential: string): Promise<Holder | null>
}

/** The keys of the gateway itself are no part of this port. */
export const Credentials = many<Credentials>('Credentials')
