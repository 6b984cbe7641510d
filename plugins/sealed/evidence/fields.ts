import { fromHex } from '../wire/bytes.ts'
import { type Reason, demand, refuse } from './reasons.ts'

/** Little-endian, up to 8 bytes. */
export const littleEndian = (bytes: Uint8Array, at: number, size: number): bigint => {
  let value = 0n
  for (let from = at + size - 1; from >= at; from--) value = (value << 8n) | BigInt(bytes[from]!)
  return value
}

/** Little-endian, up to 4 bytes. */
export const unsigned = (bytes: Uint8Array, at: number, size: 1 | 2 | 4): number =>
  Number(littleEndian(bytes, at, size))

export const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0)

/** True when all of these bits are set. */
export const hasBits = (value: bigint, bits: bigint): boolean => (value & bits) === bits

/** The members of a JSON object. */
export type EvidenceMembers = Readonly<Record<string, unknown>>

/** Throws unless the value is a JSON object. */
export const evidenceMembersOf = (value: unknown, name: string): EvidenceMembers => {
  demand(typeof value === 'object' && value !== null && !Array.isArray(value), 'evidence_malformed', name)
  return value as EvidenceMembers
}

/** Undefined for an absent member, and for a name that every object inherits. */
export const member = (fields: EvidenceMembers, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** The bytes of a member in strict hex. `absent` is the reason for refusing an absent member. */
export const bytesOf = (
  fields: EvidenceMembers,
  name: string,
  most: number,
  absent: Reason = 'evidence_malformed',
): Uint8Array => {
  const value = member(fields, name)
  demand(value !== undefined, absent, name)
  const bytes = typeof value === 'string' ? fromHex(value, most) : null
  return bytes ?? refuse('evidence_malformed', name)
}

/** The text of a member, with at most `most` UTF-16 units. */
export const textIn = (
  fields: EvidenceMembers,
  name: string,
  most: number,
  absent: Reason = 'evidence_malformed',
): string => {
  const value = member(fields, name)
  demand(value !== undefined, absent, name)
  return typeof value === 'string' && value.length <= most ? value : refuse('evidence_malformed', name)
}
