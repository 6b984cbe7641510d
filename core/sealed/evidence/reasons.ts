/** Why evidence is refused, each reason in words of our own: nothing of unverified evidence is repeated. */
export const reasons = {
  evidence_malformed: 'The evidence cannot be read: a field is missing, reserved, too long or not in its one form',
  no_verifier: 'No verifier exists for this type of evidence',
  no_crypto: 'This page has no crypto.subtle; browsers give it to pages over https alone',
  platform_not_allowed: 'The policy does not take this platform, product, report version or signing key',
  root_unknown: 'The certificates do not end at a pinned root',
  chain_broken: 'A certificate was not issued by the next one, or is not what its place needs',
  certificate_expired: 'A certificate is not valid at this time',
  certificate_revoked: 'A certificate is revoked',
  crl_invalid: 'A revocation list is not signed by its issuer, is partial, or is of the future',
  collateral_missing: 'The evidence comes without its revocation lists or platform data',
  collateral_invalid: 'Platform data is not signed by its issuer, or is about something else',
  collateral_expired: 'A revocation list or platform data has ended, or is older than what was seen before',
  signature_invalid: 'The signature of the evidence does not hold',
  chip_mismatch: 'The certificate belongs to another chip',
  chip_masked: 'The platform hides which chip signed',
  chip_not_allowed: 'The chip or its cloud is not on the list of the policy',
  qe_refused: 'The quoting enclave is not the one that its maker describes',
  tcb_mismatch: 'The patch level of the report is not the one of the certificate',
  tcb_too_low: 'The patch level is below the floor, or no floor is known',
  tcb_provisional: 'The platform may still fall back to an older patch level',
  debug: 'The machine is in a debug mode: its host can read its memory',
  policy_refused: 'A setting of the machine is not allowed by the policy',
  measurement_not_allowed: 'The measured image is not one that the policy names',
  release_unknown: 'The measured image and the digest of the keys are of no known release',
  release_withdrawn: 'The release was withdrawn',
  releases_expired: 'The list of releases has ended, or is of the future',
  releases_rolled_back: 'The list of releases is older than one that was seen before',
  releases_unsigned: 'Too few of the pinned keys signed the list of releases',
  report_data_mismatch: 'The evidence is not about these keys, or does not answer this challenge',
  evidence_stale: 'The evidence is too old, or of the future',
} as const

export type Reason = keyof typeof reasons

/** One check that did not hold. `detail` is a name of our own, such as a field or a piece, and never content. */
export class Refusal extends Error {
  readonly reason: Reason
  readonly detail: string | null

  constructor(reason: Reason, detail: string | null = null, cause?: unknown) {
    super(reasons[reason], { cause })
    this.name = 'Refusal'
    this.reason = reason
    this.detail = detail
  }
}

export const refuse = (reason: Reason, detail: string | null = null): never => {
  throw new Refusal(reason, detail)
}

/** Throws a refusal unless the condition holds. */
export function demand(holds: boolean, reason: Reason, detail: string | null = null): asserts holds {
  if (!holds) throw new Refusal(reason, detail)
}

/** Runs a reader; an error that is no refusal becomes `evidence_malformed`. */
export const readable = <T>(read: () => T, detail: string): T => {
  try {
    return read()
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal('evidence_malformed', detail, error)
  }
}
