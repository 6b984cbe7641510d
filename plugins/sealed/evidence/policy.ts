import type { SeenNumbers } from './finding.ts'
import type { Platform, Profile } from './profiles.ts'
import { Misshapen, type Reader, hexOf, lastDay, list, object, oneOf, optional, text, whole } from './shape.ts'
import { type Signature, signatures } from './signed.ts'
import type { Product } from './snp-tcb.ts'

/** A signed file. */
export interface SignedText {
  readonly text: string
  readonly signatures: readonly Signature[]
}

/** The keys whose signed files count. */
export interface ReleaseKeys {
  /** Ed25519, in hex. */
  readonly keys: readonly string[]
  /** The number of these keys that must sign. */
  readonly threshold: number
  readonly document?: SignedText | undefined
}

/** Demands on AMD SEV-SNP. Milan is missing, since reports of a Milan can be forged. */
export interface SnpPolicy {
  readonly products?: readonly Exclude<Product, 'Milan'>[]
  /** Patch levels, each at or above the built-in level. */
  readonly floors?: Readonly<Partial<Record<Exclude<Product, 'Milan'>, Readonly<Record<string, number>>>>>
  /** Clouds by the id in their VLEK. */
  readonly clouds?: readonly string[]
  /** Chips: hex of 64 bytes, on Turin of 8 bytes. */
  readonly chips?: readonly string[]
  /** Required bits: hex of 8 bytes, big-endian. */
  readonly mitigations?: { readonly launch: string; readonly current: string }
}

/** Demands on Intel TDX. */
export interface TdxPolicy {
  /** The lowest accepted number of Intel's data; at or above the built-in number. */
  readonly minimumEvaluation?: number
  /** Platforms by their PPID: hex of 16 bytes. */
  readonly ppids?: readonly string[]
}

/** Demands on AWS Nitro. */
export interface NitroPolicy {
  /** In ms. */
  readonly maximumAge?: number
}

/** Loosens one rule until the end of a day. Every result lists the exception. */
export interface Exception {
  /** One of `exceptionNames`. */
  readonly allow: string
  /** The advisories that are accepted with the status; a further one refuses the evidence. */
  readonly advisories?: readonly string[]
  /** The last day, YYYY-MM-DD. */
  readonly until: string
  /** The reason, for people who read the result later. */
  readonly because: string
}

/** Stores the highest numbers seen. */
export interface Memory {
  load(): SeenNumbers | Promise<SeenNumbers>
  save(seen: SeenNumbers): void | Promise<void>
}

/** SHA-256 of test roots, which prove nothing. The values are bytes, so that no file can name them. */
export interface TestRoots {
  readonly 'sev-snp'?: Readonly<Partial<Record<Product, Uint8Array>>>
  readonly tdx?: Uint8Array
  readonly nitro?: Uint8Array
}

/** The demands on a platform. Every member tightens the profile; only exceptions loosen it. */
export interface PlatformPolicy {
  /** `standard` when absent. */
  readonly profile?: Profile
  /** SEV-SNP and TDX when absent: Nitro must be named. */
  readonly platforms?: readonly Platform[]
  /** Accepted measurements in hex; any measurement of an accepted release when absent. */
  readonly measurements?: readonly string[]
  /** Signed lists, or release digests in hex. */
  readonly releases?: ReleaseKeys | readonly string[]
  /** Signed notices of floors, products and withdrawn releases. Without current ones, all evidence is refused. */
  readonly notices?: ReleaseKeys
  /** The signed list of enrolled machines, which alone are accepted. Without a current list, all evidence is refused. */
  readonly machines?: ReleaseKeys
  readonly 'sev-snp'?: SnpPolicy
  readonly tdx?: TdxPolicy
  readonly nitro?: NitroPolicy
  readonly exceptions?: readonly Exception[]
  /** Without a memory, a list that was rolled back is noticed only by its end. */
  readonly memory?: Memory
  readonly testRoots?: TestRoots
}

/** An invalid policy. The message names the member and its valid form. */
export class PolicyError extends Error {
  constructor(message: string, cause?: unknown) {
    super(`The policy cannot be used: ${message}`, { cause })
    this.name = 'PolicyError'
  }
}

const component = whole(0, 255)
const floor = object({
  fmc: optional(component),
  bootloader: component,
  tee: component,
  snp: component,
  microcode: component,
})

/** Every rule that an exception can loosen. A debug mode or a forged signature has none. */
export const exceptionNames = [
  'sev-snp.provisional',
  'tdx.status:SWHardeningNeeded',
  'tdx.status:ConfigurationNeeded',
  'tdx.status:ConfigurationAndSWHardeningNeeded',
  'tdx.status:OutOfDate',
  'tdx.status:OutOfDateConfigurationNeeded',
] as const

const exception = object({
  allow: oneOf(...exceptionNames),
  advisories: optional(list(text(1, 64))),
  until: lastDay,
  because: text(),
})

const releaseKeys = object({
  keys: list(hexOf(32), 1, 16),
  threshold: whole(1, 16),
  document: optional(object({ text: text(1, 262_144), signatures })),
})
const digests = list(hexOf(32))

/** A list holds digests; an object holds the keys whose signed list counts. */
const releases: Reader<ReturnType<typeof releaseKeys> | readonly string[]> = (value, path) =>
  Array.isArray(value) ? digests(value, path) : releaseKeys(value, path)

const document = object({
  profile: optional(oneOf('standard', 'strict', 'dev')),
  platforms: optional(list(oneOf('sev-snp', 'tdx', 'nitro'), 1, 3)),
  measurements: optional(list(hexOf(32, 48, 64))),
  releases: optional(releases),
  notices: optional(releaseKeys),
  machines: optional(releaseKeys),
  'sev-snp': optional(
    object({
      products: optional(list(oneOf('Genoa', 'Turin'), 1, 2)),
      floors: optional(object({ Genoa: optional(floor), Turin: optional(floor) })),
      clouds: optional(list(text(1, 128))),
      chips: optional(list(hexOf(8, 64), 1, 65_536)),
      mitigations: optional(object({ launch: hexOf(8), current: hexOf(8) })),
    }),
  ),
  tdx: optional(object({ minimumEvaluation: optional(whole(0, 65_535)), ppids: optional(list(hexOf(16), 1, 65_536)) })),
  nitro: optional(object({ maximumAge: optional(whole(1, 300_000)) })),
  exceptions: optional(list(exception, 0, 32)),
})

/** A policy whose members are all checked. */
export type ReadPolicy = ReturnType<typeof document> & Pick<PlatformPolicy, 'memory' | 'testRoots'>

const readDocument = (value: unknown): ReturnType<typeof document> => {
  try {
    return document(value, '')
  } catch (error) {
    throw error instanceof Misshapen ? new PolicyError(error.message, error) : error
  }
}

/** Throws for a root that is not 32 bytes, and for an unknown platform. */
const checkRoots = (roots: TestRoots): TestRoots => {
  const { 'sev-snp': snp = {}, tdx, nitro, ...unknown } = roots
  const hashes = [...Object.values(snp), tdx, nitro].filter((hash) => hash !== undefined)
  const fine =
    Object.keys(unknown).length === 0 && hashes.every((hash) => hash instanceof Uint8Array && hash.length === 32)
  if (!fine) throw new PolicyError('testRoots are hashes of 32 bytes, in code')
  return roots
}

/** A key that is named twice would let one signer count twice. */
const checkKeys = (member: string, stated: ReleaseKeys | undefined): void => {
  const { keys = [], threshold = 0 } = stated ?? {}
  if (new Set(keys).size !== keys.length) throw new PolicyError(`${member}.keys names a key twice`)
  if (threshold > keys.length) throw new PolicyError(`${member}.threshold is more than there are keys`)
}

/** Reads a policy from code, such as an option of the client. Throws `PolicyError`. */
export const readPolicy = ({ memory, testRoots, ...rest }: PlatformPolicy): ReadPolicy => {
  const read = readDocument(rest)
  if (!Array.isArray(read.releases)) checkKeys('releases', read.releases as ReleaseKeys | undefined)
  checkKeys('notices', read.notices)
  checkKeys('machines', read.machines)
  for (const [at, { allow, advisories }] of (read.exceptions ?? []).entries()) {
    if (allow === 'sev-snp.provisional' && advisories !== undefined)
      throw new PolicyError(`exceptions[${at}].advisories is unknown`)
  }
  return {
    ...read,
    ...(memory !== undefined && { memory }),
    ...(testRoots !== undefined && { testRoots: checkRoots(testRoots) }),
  }
}

/** Reads the text of a policy file. A file cannot name test roots or a memory. Throws `PolicyError`. */
export const parsePolicy = (text: string): PlatformPolicy => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new PolicyError('the file is no JSON', cause)
  }
  // The first reading treats the value as a file, so it refuses members that only code may set.
  readDocument(value)
  readPolicy(value as PlatformPolicy)
  return value as PlatformPolicy
}
