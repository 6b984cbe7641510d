/** What a browser brings back from an issuer, beside what it alone knows of this login. */
export interface LoginProof {
  readonly code: string
  readonly verifier: string
  readonly nonce: string
  /** Who answered the browser (RFC 9207); absent where the issuer does not say. */
  readonly iss?: string | undefined
}
