import { concat, same, utf8 } from '../wire/bytes.ts'
import { fromHex } from '../wire/hex.ts'
import { type EvidenceMembers, evidenceMembersOf, member } from './fields.ts'
import { digest } from './keys.ts'
import { demand, refuse } from './reasons.ts'

/** One report answers up to 1,024 challenges, since a platform makes few reports a second. */
const pathLimits = { size: 1024, path: 10 }

/** The first byte, 0, keeps a challenge from passing as a node of the tree, which begins with 1. */
const leafOf = (challenge: Uint8Array): Promise<Uint8Array> =>
  digest('SHA-256', concat(Uint8Array.of(0), utf8('rvenc-challenge/1\0'), challenge))

const nodeOf = (left: Uint8Array, right: Uint8Array): Promise<Uint8Array> =>
  digest('SHA-256', concat(Uint8Array.of(1), left, right))

/** An integer from `least`, below `below`. Throws `evidence_malformed` for any other value. */
const numberIn = (fields: EvidenceMembers, name: string, least: number, below: number): number => {
  const value = member(fields, name)
  const fits = Number.isInteger(value) && (value as number) >= least && (value as number) < below
  return fits ? (value as number) : refuse('evidence_malformed', 'batch')
}

/** The root over many challenges, including ours. Throws when the path has a wrong length. */
const rootOf = async (batch: EvidenceMembers, challenge: Uint8Array): Promise<Uint8Array> => {
  let size = numberIn(batch, 'size', 2, pathLimits.size + 1)
  let index = numberIn(batch, 'index', 0, size)
  const steps = member(batch, 'path')
  if (!Array.isArray(steps) || steps.length > pathLimits.path) return refuse('evidence_malformed', 'batch')
  const path = steps.map((step: unknown) => (typeof step === 'string' ? fromHex(step, 32) : null))
  let node = await leafOf(challenge)
  let at = 0
  for (; size > 1; size = (size + 1) >> 1, index >>= 1) {
    // The last node of an odd level has no neighbour and moves up unchanged.
    if (index % 2 === 0 && index === size - 1) continue
    const other = path[at++]
    if (other?.length !== 32) return refuse('evidence_malformed', 'batch')
    node = index % 2 === 0 ? await nodeOf(node, other) : await nodeOf(other, node)
  }
  demand(at === path.length, 'evidence_malformed', 'batch')
  return node
}

/** Throws unless these 64 bytes contain exactly this keyset and this challenge, alone or in a batch. */
export const checkReportData = async (
  evidence: EvidenceMembers,
  reportData: Uint8Array,
  keysetHash: Uint8Array,
  challenge: Uint8Array,
): Promise<void> => {
  const batch = member(evidence, 'batch')
  const half = batch === undefined ? challenge : await rootOf(evidenceMembersOf(batch, 'batch'), challenge)
  demand(half.length === 32 && same(reportData, concat(keysetHash, half)), 'report_data_mismatch')
}
