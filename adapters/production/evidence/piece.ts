/** What is shipped beside a report, as the metric and the log name it. */
export const pieceNames = ['vek', 'authorities', 'crl', 'root_ca_crl', 'pck_crl', 'tcb_info', 'qe_identity'] as const
export type PieceName = (typeof pieceNames)[number]

/** Members of the evidence by their names. */
export type Members = Readonly<Record<string, string>>

/** When a piece was made, and when half of its life is over; a client takes it until `taken`. Times in ms. */
export interface Life {
  readonly issued: number
  readonly ends: number
  readonly taken: number
}

export interface Piece extends Life {
  readonly members: Members
}

/** What a service answered, or what lies in a file. */
export interface Raw {
  readonly body: Buffer
  /** PEM of whoever signed the body, where that comes beside it. */
  readonly chain: string
}

/** A piece that some evidence needs, where it comes from, and how it is known to be genuine. */
export interface Wanted {
  readonly name: PieceName
  /** Which of them: a product, a chip with its patch level, a kind of platform. */
  readonly about: string
  /** Came with the evidence itself, where it did. */
  readonly given: Members | null
  /** Null where nobody serves it. */
  readonly url: string | null
  /** The header in which the chain of the signer comes. */
  readonly header?: string
  /** Its name in a folder; the chain lies beside it as `.pem`. */
  readonly file: string
  read(raw: Raw): Members
  /** Throws unless it is signed up to a pinned root, at any time of its life, and about what it should be. */
  check(members: Members, now: number): Promise<Life>
}

/** The moment of its life that is nearest to now: a piece that ended is genuine all the same. */
export const within = (now: number, issued: number, ends: number): number => Math.max(issued, Math.min(now, ends))
