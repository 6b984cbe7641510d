import { fromHex } from '../../wire/bytes.ts'
import { type EvidenceMembers, evidenceMembersOf, member, textIn } from '../fields.ts'
import { demand, readable, refuse } from '../reasons.ts'

/** Characters: the longest document seen has half a million. */
const mostText = 4 * 1024 * 1024

/** The members of a service's document. */
export const documentOf = (text: string): EvidenceMembers => {
  demand(text.length <= mostText, 'evidence_malformed', 'document')
  return evidenceMembersOf(
    readable(() => JSON.parse(text) as unknown, 'document'),
    'document',
  )
}

/** Exactly `size` bytes in hex. Services write upper case and `0x`, too. */
export const hexMember = (fields: EvidenceMembers, name: string, size: number): Uint8Array => {
  const bytes = fromHex(
    textIn(fields, name, 2 * size + 2)
      .replace(/^0x/, '')
      .toLowerCase(),
    size,
  )
  return bytes?.length === size ? bytes : refuse('evidence_malformed', name)
}

/** At most `most` bytes in base64 with its padding. */
export const base64Member = (fields: EvidenceMembers, name: string, most: number): Uint8Array => {
  const text = textIn(fields, name, Math.ceil(most / 3) * 4)
  const decoded = readable(() => atob(text), name)
  demand(btoa(decoded) === text, 'evidence_malformed', name)
  return Uint8Array.from(decoded, (character) => character.charCodeAt(0))
}

export const objectMember = (fields: EvidenceMembers, name: string): EvidenceMembers =>
  evidenceMembersOf(member(fields, name), name)

/** A member that some versions of a service write as an object, and others as its JSON. */
export const parsedMember = (fields: EvidenceMembers, name: string): unknown => {
  const value = member(fields, name)
  return typeof value === 'string' ? readable(() => JSON.parse(value) as unknown, name) : value
}
