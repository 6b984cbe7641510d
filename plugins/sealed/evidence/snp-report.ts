import { concat } from '../wire/bytes.ts'
import { hasBits, isZero, littleEndian, unsigned } from './fields.ts'
import { demand, refuse } from './reasons.ts'
import { type Product, type Tcb, readTcb } from './snp-tcb.ts'

/** An SEV-SNP attestation report, versions 3 to 5. */
export type SnpReport = Readonly<ReturnType<typeof readReport>>

/** In bytes. */
export const reportSize = 1184
const signedSize = 0x2a0

/** Bit 17 is always set by the specification; bits from 26 on are reserved. */
const guestBits = { one: 1n << 17n, reserved: ~0n << 26n }
const platformReserved = (1n << 6n) | (~0n << 8n)
const flags = { masked: 0x02, signer: 0x1c, reserved: 0xffffffe0 }

/** Null for a processor without a verifier. Reports name family and model since version 3. */
const productOf = (family: number, model: number): Product | null => {
  if (family === 0x19) {
    if (model <= 0x0f) return 'Milan'
    return (model >= 0x10 && model <= 0x1f) || (model >= 0xa0 && model <= 0xaf) ? 'Genoa' : null
  }
  return family === 0x1a && model <= 0x11 ? 'Turin' : null
}

const mustBeZero = (report: Uint8Array, from: number, to: number): void =>
  demand(isZero(report.subarray(from, to)), 'evidence_malformed', `report byte ${from} to ${to - 1}`)

/** r or s: 48 bytes, little-endian. The rest of the 72 bytes is zero. */
const halfAt = (report: Uint8Array, at: number): Uint8Array => {
  mustBeZero(report, at + 48, at + 72)
  return report.slice(at, at + 48).reverse()
}

const signerOf = (report: Uint8Array): 'VCEK' | 'VLEK' => {
  const value = unsigned(report, 0x48, 4)
  demand((value & flags.reserved) === 0, 'evidence_malformed', 'flags')
  demand((value & flags.masked) === 0, 'chip_masked')
  const signer = (value & flags.signer) >> 2
  if (signer > 1) return refuse('platform_not_allowed', 'signing key')
  return signer === 0 ? 'VCEK' : 'VLEK'
}

/** Throws `platform_not_allowed` without a verifier, `chip_masked`, or `evidence_malformed` for reserved bits. */
export const readReport = (report: Uint8Array) => {
  demand(report.length === reportSize, 'evidence_malformed', 'report')
  const version = unsigned(report, 0, 4)
  demand(version !== 2, 'platform_not_allowed', 'report version')
  demand(version >= 3 && version <= 5, 'evidence_malformed', 'report version')
  const product = productOf(report[0x188]!, report[0x189]!)
  if (product === null) return refuse('platform_not_allowed', 'processor')

  const policy = littleEndian(report, 8, 8)
  demand(hasBits(policy, guestBits.one), 'evidence_malformed', 'guest policy')
  demand((policy & guestBits.reserved) === 0n, 'evidence_malformed', 'guest policy')
  demand(unsigned(report, 0x34, 4) === 1, 'evidence_malformed', 'signature algorithm')
  const platform = littleEndian(report, 0x40, 8)
  demand((platform & platformReserved) === 0n, 'evidence_malformed', 'platform info')
  const signer = signerOf(report)
  mustBeZero(report, 0x4c, 0x50)
  mustBeZero(report, 0x18b, 0x1a0)
  mustBeZero(report, 0x1eb, 0x1ec)
  mustBeZero(report, 0x1ef, 0x1f0)
  mustBeZero(report, version < 5 ? 0x1f8 : 0x208, signedSize)
  const signature = concat(halfAt(report, signedSize), halfAt(report, signedSize + 72))
  mustBeZero(report, signedSize + 144, reportSize)

  const agent = report.subarray(0x160, 0x180)
  const tcbAt = (at: number): Tcb =>
    readTcb(report.subarray(at, at + 8), product) ?? refuse('evidence_malformed', 'patch level')
  return {
    version,
    product,
    guestSvn: unsigned(report, 4, 4),
    /** The bits of the guest policy. */
    policy,
    /** The privilege level of the code that asked for the report; 0 is the highest. */
    vmpl: unsigned(report, 0x30, 4),
    /** The bits of PLATFORM_INFO. */
    platform,
    signer,
    /** 64 bytes that the guest chose. */
    reportData: report.slice(0x50, 0x90),
    /** 48 bytes. */
    measurement: report.slice(0x90, 0xc0),
    /** The family and the image that the owner of the guest's id block named: 32 bytes. */
    idBlock: report.slice(0x10, 0x30),
    /** 32 bytes that the host chose at launch. */
    hostData: report.slice(0xc0, 0xe0),
    /** True when a migration agent is associated with the guest. */
    migrationAgent: !isZero(agent) && !agent.every((byte) => byte === 0xff),
    /** 64 bytes of CHIP_ID; on Turin only the first 8 are used. */
    chip: report.slice(0x1a0, 0x1e0),
    /** `reported` is the level that the chip's key was made for; `committed` is the lowest that may return. */
    tcbs: { current: tcbAt(0x38), reported: tcbAt(0x180), committed: tcbAt(0x1e0), launch: tcbAt(0x1f0) },
    /** Mitigation vectors; null before version 5. */
    mitigations:
      version < 5 ? null : { launch: littleEndian(report, 0x1f8, 8), current: littleEndian(report, 0x200, 8) },
    /** The bytes before the signature. */
    signed: report.subarray(0, signedSize),
    /** r‖s, big-endian, 48 bytes each. */
    signature,
  }
}
