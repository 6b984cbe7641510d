/** The pieces beside a report, by their names in metrics and log. */
const pieceNames = ['vek', 'authorities', 'crl', 'root_ca_crl', 'pck_crl', 'tcb_info', 'qe_identity'] as const
/** The name labels a metric, so the list of names stays short and fixed. */
export type PieceName = (typeof pieceNames)[number]

/** Members of the evidence by name. */
export type Members = Readonly<Record<string, string>>

/**
 * The life of a piece. Half of the time from `issued` to `ends` leads to a new fetch; a client accepts the piece until
 * `taken`. Times in ms.
 */
export interface PieceLife {
  readonly issued: number
  readonly ends: number
  readonly taken: number
}

/** A piece that was found genuine, with its life. */
export interface Piece extends PieceLife {
  readonly members: Members
}

/** The answer of a service, or the content of a file. */
export interface RawPiece {
  readonly body: Buffer
  /** The signer's certificates in PEM, when they come beside the body. */
  readonly chain: string
}

/** A piece that evidence needs: its source and its check. */
export interface WantedPiece {
  readonly name: PieceName
  /** Identifies the piece: a product, a chip with its patch level, or a kind of platform. */
  readonly about: string
  /** The piece from the evidence itself; null when the evidence lacks it. */
  readonly given: Members | null
  /** Null when no service offers the piece. */
  readonly url: string | null
  /** The header that contains the signer's chain. */
  readonly header?: string
  /** The file name in a folder; the chain stands beside the file as `.pem`. */
  readonly file: string
  read(raw: RawPiece): Members
  /** Throws unless a pinned root signed the piece, at any time of its life, and the piece names the right thing. */
  check(members: Members, now: number): Promise<PieceLife>
}

/** The moment of the piece's life nearest to now: an expired piece is still genuine. */
export const nearestMoment = (now: number, issued: number, ends: number): number =>
  Math.max(issued, Math.min(now, ends))
