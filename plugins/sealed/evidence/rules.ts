import type { UsedException } from './finding.ts'
import { snpFloors, tdxFloor } from './floors.ts'
import { PolicyError, type ReadPolicy, type ReleaseKeys } from './policy.ts'
import { type Platform, type Profile, snpProfiles } from './profiles.ts'
import { roots } from './roots.ts'
import type { SnpRules } from './snp.ts'
import { type Product, type Tcb, lowerComponent, highestTcb } from './snp-tcb.ts'
import { fromHex, toHex, numberOf } from '../wire/bytes.ts'

/** A policy at one moment: expired exceptions are removed, and the higher floors count. */
export interface Rules {
  readonly profile: Profile
  readonly platforms: readonly Platform[]
  /** In hex; null when the policy names none. */
  readonly measurements: readonly string[] | null
  /** Digests of releases that are accepted together with one of the measurements. */
  readonly digests: readonly string[] | null
  /** The keys whose signed list counts; null when the policy demands no list. */
  readonly releases: ReleaseKeys | null
  /** Digests of releases that are refused even when a list names them. */
  readonly withdrawn: readonly string[]
  readonly snp: SnpRules
  readonly tdx: TdxRules
  readonly nitro: NitroRules
  /** True when the platform's roots are test roots. */
  isTest(platform: Platform): boolean
}

/** The demands on a TDX machine. */
export type TdxRules = Readonly<ReturnType<typeof tdxRules>>

/** The demands on a Nitro enclave. */
export interface NitroRules {
  /** SHA-256 of the root, in hex. */
  readonly root: string
  /** In ms. */
  readonly maximumAge: number
}

const hash = (bytes: Uint8Array | undefined): string | null => (bytes === undefined ? null : toHex(bytes))

/** Throws `PolicyError` for a floor below the built-in floor: only a release of the client lowers a floor. */
const floorsOf = (stated: Readonly<Record<string, unknown>> | undefined): Partial<Record<Product, Tcb>> => {
  const floors: Partial<Record<Product, Tcb>> = {}
  for (const product of ['Genoa', 'Turin'] as const) {
    const built = snpFloors[product]?.tcb
    const floor = stated?.[product] as (Omit<Tcb, 'fmc'> & { fmc: number | undefined }) | undefined
    if (floor === undefined) {
      if (built !== undefined) floors[product] = built
      continue
    }
    if ((floor.fmc === undefined) === (product === 'Turin'))
      throw new PolicyError(`sev-snp.floors.${product}.fmc is a component of Turin alone`)
    const own: Tcb = { ...floor, fmc: floor.fmc ?? 0 }
    const low = built === undefined ? null : lowerComponent(own, built)
    if (low !== null) throw new PolicyError(`sev-snp.floors.${product}.${low} is below the built-in floor`)
    floors[product] = built === undefined ? own : highestTcb(own, built)
  }
  return floors
}

/** 8 bytes in hex, big-endian. */
const bits = (hex: string): bigint => numberOf(fromHex(hex, 8)!)

/** Throws `PolicyError` when the policy accepts a product that its profile refuses. */
const snpRules = (policy: ReadPolicy, profile: Profile, used: (allow: string) => UsedException | null): SnpRules => {
  const { products, floors, clouds = [], chips, mitigations } = policy['sev-snp'] ?? {}
  const fixed = snpProfiles[profile]
  const outside = products?.find((product) => !fixed.products.includes(product))
  if (outside !== undefined) throw new PolicyError(`sev-snp.products: the profile ${profile} refuses ${outside}`)
  const test = policy.testRoots?.['sev-snp']
  return {
    ...fixed,
    products: products ?? fixed.products,
    roots:
      test === undefined
        ? roots['sev-snp']
        : Object.fromEntries(Object.entries(test).map(([part, by]) => [part, toHex(by)])),
    floors: floorsOf(floors),
    clouds,
    chips: chips?.map((chip) => chip.padEnd(128, '0')) ?? null,
    mitigations:
      mitigations === undefined ? null : { launch: bits(mitigations.launch), current: bits(mitigations.current) },
    provisional: used('sev-snp.provisional'),
  }
}

/** Throws `PolicyError` when the policy accepts older data of Intel than the built-in number. */
const tdxRules = (policy: ReadPolicy, profile: Profile, now: number) => {
  const { minimumEvaluation = tdxFloor.evaluation, ppids } = policy.tdx ?? {}
  if (minimumEvaluation < tdxFloor.evaluation)
    throw new PolicyError('tdx.minimumEvaluation is below the built-in floor')
  const statuses: Record<string, { advisories: readonly string[]; used: UsedException }> = {}
  for (const { allow, advisories = [], until, because } of policy.exceptions ?? []) {
    const [about, status] = allow.split(':') as [string, string | undefined]
    if (about === 'tdx.status' && status !== undefined && now < until)
      statuses[status] = { advisories, used: { allow, until, because } }
  }
  return {
    /** SHA-256 of the root, in hex. */
    root: hash(policy.testRoots?.tdx) ?? roots.tdx,
    minimumEvaluation,
    /** PPIDs in hex; null for any platform. */
    ppids: ppids ?? null,
    /** True when a level with advisories is refused although its status is up to date. */
    withoutAdvisories: profile === 'strict',
    /** Statuses below `UpToDate` that are accepted when every advisory is named. */
    statuses,
    /** In ms: how long after its end a revocation list still counts. */
    grace: snpProfiles[profile].grace,
  }
}

/** Throws when a policy lacks a demand of the profile `strict`, or names a platform that `strict` refuses. */
const checkStrict = (policy: ReadPolicy, platforms: readonly Platform[]): void => {
  const snp = policy['sev-snp']
  if (platforms.includes('nitro')) throw new PolicyError('platforms: the profile strict refuses nitro')
  if (platforms.includes('sev-snp')) {
    if (snp?.chips === undefined && policy.machines === undefined)
      throw new PolicyError('sev-snp.chips is needed by the profile strict')
    if (snp?.mitigations === undefined) throw new PolicyError('sev-snp.mitigations is needed by the profile strict')
    if (snp?.clouds !== undefined) throw new PolicyError('sev-snp.clouds: the profile strict takes no VLEK')
  }
  if (platforms.includes('tdx') && policy.tdx?.ppids === undefined && policy.machines === undefined)
    throw new PolicyError('tdx.ppids is needed by the profile strict')
}

/** The rules of a policy at this time. Throws `PolicyError` when a policy loosens its profile. */
export const rulesOf = (policy: ReadPolicy, now: number): Rules => {
  const { profile = 'standard', platforms = ['sev-snp', 'tdx'], measurements, releases, testRoots } = policy
  if (profile === 'strict') checkStrict(policy, platforms)
  const used = (allow: string): UsedException | null => {
    const found = policy.exceptions?.find((exception) => exception.allow === allow && now < exception.until)
    return found === undefined ? null : { allow, until: found.until, because: found.because }
  }
  return {
    profile,
    platforms,
    measurements: measurements ?? null,
    digests: Array.isArray(releases) ? (releases as readonly string[]) : null,
    releases: releases === undefined || Array.isArray(releases) ? null : (releases as ReleaseKeys),
    withdrawn: [],
    snp: snpRules(policy, profile, used),
    tdx: tdxRules(policy, profile, now),
    nitro: {
      root: hash(testRoots?.nitro) ?? roots.nitro,
      maximumAge: policy.nitro?.maximumAge ?? 5 * 60_000,
    },
    isTest: (platform) => testRoots?.[platform] !== undefined,
  }
}
