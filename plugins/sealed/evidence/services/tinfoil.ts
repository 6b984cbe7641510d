import { concat, same, utf8, toHex } from '../../wire/bytes.ts'
import { type EvidenceMembers, isZero, member, textIn } from '../fields.ts'
import type { PlatformFacts } from '../finding.ts'
import { digest } from '../keys.ts'
import { demand, refuse } from '../reasons.ts'
import { base64Member, documentOf, hexMember, objectMember } from './document.ts'
import type { Machine, ReadService } from './machine.ts'
import type { ServiceLists } from './service-policy.ts'

const format = 'https://tinfoil.sh/predicate/attestation/v3'
const mostReport = 16 * 1024

/** Evidence of a device by its member, its hash by its name in the report data, and the order of hashing. */
const devices = [
  { evidence: 'gpu', hash: 'gpu_evidence_hash' },
  { evidence: 'nvswitch', hash: 'nvswitch_evidence_hash' },
] as const

/** The hashes of the devices' evidence, which the report data binds. A hash without its evidence is refused. */
const deviceHashes = async (text: string, members: EvidenceMembers): Promise<readonly Uint8Array[]> => {
  const raw = rawMembers(text)
  const hashes: Uint8Array[] = []
  for (const { evidence, hash } of devices) {
    const isThere = raw.has(evidence)
    demand(isThere === (member(members, hash) !== undefined), 'evidence_malformed', hash)
    if (!isThere) continue
    const claimed = hexMember(members, hash, 32)
    // The service writes the evidence of switches anew after hashing it, so its bytes are bound by the claim alone.
    const isBound = evidence === 'nvswitch' || same(await digest('SHA-256', utf8(raw.get(evidence)!)), claimed)
    demand(isBound, 'report_data_mismatch', hash)
    hashes.push(claimed)
  }
  return hashes
}

/** Throws unless a release of the policy has this code, on firmware of the policy. */
const checkImage = ({ measurement, registers, hostData }: PlatformFacts, { tinfoil }: ServiceLists): string => {
  demand(tinfoil !== undefined, 'measurement_not_allowed', 'the policy names no images of tinfoil')
  if (registers === null) {
    demand(/^0*$/.test(hostData), 'policy_refused', 'hostData')
    const image = tinfoil.images.find((image) => image['sev-snp'] === measurement)
    return image?.name ?? refuse('measurement_not_allowed', 'image')
  }
  const [rtmr0, rtmr1, rtmr2, rtmr3] = registers.rtmr.map(toHex)
  const image = tinfoil.images.find(({ tdx }) => tdx?.rtmr1 === rtmr1 && tdx?.rtmr2 === rtmr2)
  demand(image !== undefined, 'measurement_not_allowed', 'image')
  const mrtd = toHex(registers.mrtd)
  const isFirmware = tinfoil.hardware?.some((hardware) => hardware.mrtd === mrtd && hardware.rtmr0 === rtmr0) === true
  demand(isFirmware, 'measurement_not_allowed', 'hardware')
  const others = [registers.configId, registers.owner, registers.ownerConfig]
  demand(/^0+$/.test(rtmr3!) && others.every(isZero), 'policy_refused', 'registers')
  return image.name
}

/** The third form of Tinfoil's documents, whose report data is one hash over keys, nonce and devices. */
export const readTinfoil: ReadService = async (text) => {
  const document = documentOf(text)
  demand(member(document, 'format') === format, 'no_verifier', 'format of tinfoil')
  // The second form had this member; a document of both forms has two meanings.
  demand(member(document, 'body') === undefined, 'evidence_malformed', 'body')
  const reportData = objectMember(document, 'report_data')
  const cpu = objectMember(document, 'cpu')
  const platform = textIn(cpu, 'platform', 16)
  if (platform !== 'sev-snp' && platform !== 'tdx') return refuse('platform_not_allowed', 'platform')
  const [tls, seal, nonce] = ['tls_key_fp', 'hpke_key', 'nonce'].map((name) => hexMember(reportData, name, 32)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ]
  const hashes = await deviceHashes(text, reportData)
  const bound = await digest('SHA-256', concat(tls, seal, nonce, ...hashes))
  const machine: Machine = {
    role: 'machine',
    platform,
    report: base64Member(cpu, 'report', mostReport),
    nonce,
    reportData: concat(bound, new Uint8Array(32)),
    keys: [
      { use: 'tls', key: toHex(tls) },
      { use: 'x25519-hpke', key: toHex(seal) },
    ],
    checkImage,
    hasRawGpuEvidence: hashes.length > 0,
  }
  return [machine]
}

/** The end of the JSON string that begins at `at`. */
const stringEnd = (text: string, at: number): number => {
  for (let here = at + 1; here < text.length; here++) {
    if (text[here] === '\\') here++
    else if (text[here] === '"') return here + 1
  }
  return refuse('evidence_malformed', 'document')
}

const afterSpace = (text: string, at: number): number => {
  let here = at
  while (' \t\r\n'.includes(text[here] ?? 'end')) here++
  return here
}

/** The end of the JSON value that begins at `at`. */
const valueEnd = (text: string, at: number): number => {
  let depth = 0
  for (let here = at; here < text.length; here++) {
    const character = text[here]!
    if (character === '"') here = stringEnd(text, here) - 1
    else if (character === '{' || character === '[') depth++
    else if (depth > 0 && (character === '}' || character === ']')) depth--
    else if (depth === 0 && (character === ',' || character === '}')) return here
  }
  return refuse('evidence_malformed', 'document')
}

/**
 * The texts of an object's members as they stand, since a hash is over those bytes. A member that occurs twice is
 * refused: two readers could take different ones. The text is known to be JSON.
 */
export const rawMembers = (text: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  let at = afterSpace(text, 0)
  demand(text[at] === '{', 'evidence_malformed', 'document')
  at = afterSpace(text, at + 1)
  while (text[at] === '"') {
    const nameEnd = stringEnd(text, at)
    const name = JSON.parse(text.slice(at, nameEnd)) as string
    const begin = afterSpace(text, afterSpace(text, nameEnd) + 1)
    const end = valueEnd(text, begin)
    demand(!found.has(name), 'evidence_malformed', 'a member occurs twice')
    found.set(name, text.slice(begin, end).trimEnd())
    at = afterSpace(text, end + 1)
  }
  return found
}
