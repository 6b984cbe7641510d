/** A property that the model asserts, or the witness that a call comes to its end. */
export type Property = 'secrecy' | 'agreement' | 'no_replay' | 'no_relay' | 'no_diversion' | 'unfinished'

export interface Variant {
  /** The macro that takes one defence away. */
  readonly name: string
  /** The property that breaks; null when another defence holds all properties alone. */
  readonly breaks: Property | null
  /** Attacks that mix two calls need two. */
  readonly calls?: 2
}

/** Each known attack as the model without one defence. docs/model.md tells what each is. */
export const variants: readonly Variant[] = [
  { name: 'WITHOUT_QUESTION', breaks: 'secrecy' },
  { name: 'WITHOUT_KEYSET_HASH', breaks: 'no_relay' },
  { name: 'WITHOUT_MEASUREMENT', breaks: 'secrecy' },
  { name: 'WITHOUT_ENROLMENT', breaks: 'no_diversion' },
  { name: 'WITHOUT_NONCE_CHECK', breaks: 'agreement' },
  { name: 'WITHOUT_FRESH_SECRET', breaks: 'agreement', calls: 2 },
  { name: 'WITHOUT_RECEIPT_DIGEST', breaks: 'agreement', calls: 2 },
  { name: 'WITHOUT_END_MARK', breaks: 'agreement' },
  { name: 'WITHOUT_ROUTE', breaks: 'agreement' },
  { name: 'WITHOUT_REPLAY_TABLE', breaks: 'no_replay' },
  { name: 'WITH_A_TABLE_EMPTIED_EARLY', breaks: 'no_replay' },
  { name: 'WITHOUT_EXPORTER', breaks: 'no_relay' },
  { name: 'WITH_AN_EXPORTER_THAT_IS_TOLD', breaks: 'no_relay' },
  { name: 'WITHOUT_BACKEND_ENROLMENT', breaks: 'no_diversion' },
  { name: 'WITHOUT_BACKEND_NONCE', breaks: null },
  { name: 'WITHOUT_TLS_KEY', breaks: null },
  { name: 'WITNESS', breaks: 'unfinished' },
]
