/** A certificate, list or text that the evidence depends on. Times in ms. */
export interface Piece {
  readonly piece: string
  readonly issued: number
  readonly ends: number
}

/** A fact that refuses nothing, with a constant code for programs and a sentence for people. */
export interface Warning {
  readonly code: string
  readonly detail: string
}

/** An exception of the policy that the evidence needed to pass. */
export interface UsedException {
  readonly allow: string
  /** In Unix ms: the first moment at which the exception is over. */
  readonly until: number
  readonly because: string
}

/** The highest numbers seen; lower numbers are refused later. */
export interface SeenNumbers {
  /** The evaluation number of Intel's data. */
  readonly evaluation?: number
  /** The numbers of revocation lists by issuer, in hex. */
  readonly lists?: Readonly<Record<string, string>>
  /** The serials of signed files by name. */
  readonly releases?: Readonly<Record<string, number>>
}

/** The registers of a TDX machine, of which one measurement is made. */
export interface TdxRegisters {
  readonly mrtd: Uint8Array
  /** Four registers. */
  readonly rtmr: readonly Uint8Array[]
  readonly configId: Uint8Array
  readonly owner: Uint8Array
  readonly ownerConfig: Uint8Array
}

/** The facts of a platform whose signatures are valid. The measurement is not yet compared with the policy. */
export interface PlatformFacts {
  /** 64 bytes. */
  readonly reportData: Uint8Array
  /** In hex. */
  readonly measurement: string
  /** Null on every platform but TDX. */
  readonly registers: TdxRegisters | null
  /** The host's data at launch, in hex; empty when the measurement includes it. */
  readonly hostData: string
  /** The security version that the guest's owner gave it; 0 where the platform has none. */
  readonly guestSvn: number
  /** The kind of processor or platform, such as `Genoa`. */
  readonly product: string
  /** In hex; null when the platform names no chip. */
  readonly chip: string | null
  readonly tcb: Readonly<Record<string, number | string>>
  readonly collateral: readonly Piece[]
  readonly seen: SeenNumbers
  readonly exceptions: readonly UsedException[]
  readonly warnings: readonly Warning[]
}
