import { fromHex } from '../wire/bytes.ts'
import { clockSkewMs } from './chain.ts'
import { listHead, longestLifeMs, time } from './demanded-list.ts'
import { nitroMeasurement, tdxMeasurement } from './measurement.ts'
import type { ReleaseKeys, SignedText } from './policy.ts'
import { demand, readable } from './reasons.ts'
import { hexOf, list, object, oneOf, optional, text, whole } from './shape.ts'
import { checkSigned } from './signed.ts'

/** The name of the format is signed, too, so that no notice passes as a list of releases. */
export const releasesFormat = 'sealgate-releases/1'
const mostText = 262_144

/** `accepted`: still allowed beside the current release. `withdrawn`: refused. */
export type State = 'current' | 'accepted' | 'withdrawn'

/** An image as which a release may run. */
export interface Image {
  readonly platform: 'sev-snp' | 'tdx' | 'nitro'
  /** In hex. */
  readonly measurement: string
  /** In hex; zeros unless the release names other data. */
  readonly hostData: string
  readonly guestSvn: number
}

/** A release digest, and the images that may report it. */
export interface Release {
  readonly version: string
  /** In hex. */
  readonly digest: string
  readonly state: State
  /** In Unix ms: the last moment of the release; undefined for no end but the list's own. */
  readonly until: number | undefined
  /** A description of the parts that the measurement covers. */
  readonly covers: string
  readonly images: readonly Image[]
}

/** A signed list whose signatures hold and whose time has not ended. */
export interface Releases {
  readonly name: string
  /** Grows with each new list of this name; the client's memory refuses a lower one. */
  readonly serial: number
  /** In Unix ms, inclusive. */
  readonly ends: number
  readonly releases: readonly Release[]
}

const register = hexOf(48)

const document = object({
  ...listHead(releasesFormat),
  releases: list(
    object({
      version: text(1, 64),
      digest: hexOf(32),
      state: oneOf('current', 'accepted', 'withdrawn'),
      until: optional(time),
      covers: text(1, 1024),
      'sev-snp': optional(
        list(
          object({
            measurement: register,
            hostData: optional(hexOf(32)),
            guestSvn: optional(whole(0, 0xffffffff)),
            vcpus: whole(1, 65_536),
          }),
        ),
      ),
      tdx: optional(
        list(
          object({
            mrtd: register,
            rtmr: list(register, 4, 4),
            configId: optional(register),
            vcpus: optional(whole(1, 65_536)),
          }),
        ),
      ),
      nitro: optional(list(object({ pcr0: register, pcr1: register, pcr2: register, pcr8: optional(register) }))),
    }),
    1,
    256,
  ),
})

type Entry = ReturnType<typeof document>['releases'][number]

const bytes = (hex: string): Uint8Array => fromHex(hex, 48)!

/** Several images of one release: a measurement of SEV-SNP depends on the number of processors. */
const imagesOf = async (entry: Entry): Promise<readonly Image[]> => {
  const snp = (entry['sev-snp'] ?? []).map(({ measurement, hostData = '00'.repeat(32), guestSvn = 0 }) => ({
    platform: 'sev-snp' as const,
    measurement,
    hostData,
    guestSvn,
  }))
  const tdx = (entry.tdx ?? []).map(async ({ mrtd, rtmr, configId }) => {
    const registers = { mrtd: bytes(mrtd), rtmr: rtmr.map(bytes), ...(configId && { configId: bytes(configId) }) }
    return { platform: 'tdx' as const, measurement: await tdxMeasurement(registers), hostData: '', guestSvn: 0 }
  })
  const nitro = (entry.nitro ?? []).map(async ({ pcr0, pcr1, pcr2, pcr8 }) => {
    const registers = { pcr0: bytes(pcr0), pcr1: bytes(pcr1), pcr2: bytes(pcr2), ...(pcr8 && { pcr8: bytes(pcr8) }) }
    return { platform: 'nitro' as const, measurement: await nitroMeasurement(registers), hostData: '', guestSvn: 0 }
  })
  return [...snp, ...(await Promise.all([...tdx, ...nitro]))]
}

/** Reads a current list that enough pinned keys signed. An unsigned list is never parsed. */
export const readReleases = async (signed: SignedText, keys: ReleaseKeys, now: number): Promise<Releases> => {
  demand(signed.text.length <= mostText, 'evidence_malformed', 'releases')
  await checkSigned(releasesFormat, signed.text, signed.signatures, keys)
  const list = readable(() => document(JSON.parse(signed.text), 'releases'), 'releases')
  const { issued, ends, releases, name, serial } = list
  demand(ends - issued <= longestLifeMs && issued <= ends, 'evidence_malformed', 'releases')
  demand(issued <= now + clockSkewMs && now <= ends, 'releases_expired')
  const whole = releases.map(async ({ version, digest, state, until, covers, ...images }) => {
    return {
      version,
      digest,
      state,
      until,
      covers,
      images: await imagesOf({ version, digest, state, until, covers, ...images }),
    }
  })
  return { name, serial, ends, releases: await Promise.all(whole) }
}
