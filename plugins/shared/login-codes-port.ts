import { one } from '../../core/container.ts'

/** What opens the console in the place of a key. */
export interface Lent {
  readonly credential: string
  /** Unix time in ms. */
  readonly expires_at: number
}

/** A login that the console offers; all of it is public. */
export interface Offer {
  readonly name: string
  /** Where the login begins, without the secrets of the browser. */
  readonly authorize: string
  readonly redirect: string
}

/** What a browser brings back from an issuer, beside what it alone knows of this login. */
export interface LoginProof {
  readonly code: string
  readonly verifier: string
  readonly nonce: string
  /** Who answered the browser (RFC 9207); absent where the issuer does not say. */
  readonly iss?: string | undefined
}

/** Logins of the console by codes of issuers, with PKCE. */
export interface LoginCodes {
  offers(): readonly Offer[]
  /**
   * The access token behind a code, which the gateway takes as a credential. Null for every kind of bad code; only the log
   * has the reason. Throws Unavailable where the issuer can't be asked.
   */
  exchange(name: string, proof: LoginProof, signal: AbortSignal): Promise<Lent | null>
}

/** The port of the console's logins at issuers. */
export const LoginCodes = one<LoginCodes>('LoginCodes')
