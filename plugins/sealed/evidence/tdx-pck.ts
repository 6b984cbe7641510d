import { toHex } from '../wire/bytes.ts'
import type { Certificate } from './certificate.ts'
import { cursor, unsignedBytes, oidOf, onlyItem, tags } from './der.ts'
import { demand, refuse } from './reasons.ts'

/** Intel's facts about a platform, from its PCK certificate. */
export type PckFacts = Readonly<ReturnType<typeof readPck>>

// 1.2.840.113741.1.13.1 and the identifiers below it, in hex.
const arc = '2a864886f84d010d01'
const tcbArc = `${arc}02`
const oids = { ppid: `${arc}01`, tcb: tcbArc, pceid: `${arc}03`, fmspc: `${arc}04`, pcesvn: `${tcbArc}11` }
const components = Array.from({ length: 16 }, (_, at) => `${tcbArc}${(at + 1).toString(16).padStart(2, '0')}`)

/** Values by identifier. Each identifier may occur once. */
const pairsOf = (list: Uint8Array): ReadonlyMap<string, { tag: number; content: Uint8Array; whole: Uint8Array }> => {
  const found = new Map<string, { tag: number; content: Uint8Array; whole: Uint8Array }>()
  const all = cursor(list)
  while (all.more()) {
    const pair = cursor(all.take(tags.sequence).content)
    const oid = oidOf(pair.take(tags.oid))
    demand(!found.has(oid), 'evidence_malformed', 'PCK extension')
    found.set(oid, pair.any())
    pair.end()
  }
  return found
}

/** Throws `evidence_malformed` unless the certificate has a complete PCK extension. */
export const readPck = (certificate: Certificate) => {
  const extension = certificate.extensions.get(arc)
  if (extension === undefined) return refuse('evidence_malformed', 'PCK extension')
  const all = pairsOf(onlyItem(extension.value, tags.sequence).content)
  const item = (from: typeof all, oid: string, tag: number) => {
    const found = from.get(oid)
    return found?.tag === tag ? found : refuse('evidence_malformed', 'PCK extension')
  }
  const octets = (oid: string, size: number): string => {
    const { content } = item(all, oid, tags.octetString)
    demand(content.length === size, 'evidence_malformed', 'PCK extension')
    return toHex(content)
  }
  const levels = pairsOf(item(all, oids.tcb, tags.sequence).content)
  const level = (oid: string, most: number): number => {
    const value = unsignedBytes(item(levels, oid, tags.integer)).reduce((sum, byte) => sum * 256 + byte, 0)
    return value <= most ? value : refuse('evidence_malformed', 'PCK extension')
  }
  return {
    /** In hex. */
    ppid: octets(oids.ppid, 16),
    fmspc: octets(oids.fmspc, 6),
    pceid: octets(oids.pceid, 2),
    /** 16 values. */
    components: components.map((oid) => level(oid, 255)),
    pcesvn: level(oids.pcesvn, 65_535),
  }
}
