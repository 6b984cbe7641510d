/** A certificate, a list or a text that the evidence rests on; times in ms. */
export interface Piece {
  readonly piece: string
  readonly issued: number
  readonly ends: number
}

export interface Warning {
  readonly code: string
  readonly detail: string
}

/** An exception of the policy without which the evidence would have been refused. */
export interface Used {
  readonly allow: string
  readonly until: number
  readonly because: string
}

/** The highest numbers that were seen: lower ones are refused later. */
export interface Seen {
  /** Evaluation number of Intel's data. */
  readonly evaluation?: number
  /** Numbers of revocation lists by their issuer, hex. */
  readonly lists?: Readonly<Record<string, string>>
  /** Serials of signed files by their names. */
  readonly releases?: Readonly<Record<string, number>>
}

/** What a platform says once all of its signatures hold. Whether it runs what it should is still open. */
export interface Finding {
  /** 64 bytes. */
  readonly reportData: Uint8Array
  /** Hex. */
  readonly measurement: string
  /** What the host gave at launch, hex; empty where it is part of the measurement. */
  readonly hostData: string
  readonly guestSvn: number
  readonly product: string
  /** Hex; null when the platform names none. */
  readonly chip: string | null
  readonly tcb: Readonly<Record<string, number | string>>
  readonly collateral: readonly Piece[]
  readonly seen: Seen
  readonly exceptions: readonly Used[]
  readonly warnings: readonly Warning[]
}
