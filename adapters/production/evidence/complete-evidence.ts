import type { Evidence } from '../../../core/ports/enclave.ts'
import { readPem } from '../../../plugins/sealed/evidence/pem.ts'
import { demand } from '../../../plugins/sealed/evidence/reasons.ts'
import { readReport } from '../../../plugins/sealed/evidence/snp-report.ts'
import { pemText } from '../../../plugins/sealed/evidence/tdx.ts'
import { readQuote } from '../../../plugins/sealed/evidence/tdx-quote.ts'
import { type AmdSource, authorities, endorsement, revocations } from './amd.ts'
import { splitAuxblob } from './auxblob.ts'
import { type IntelSource, levels, platformRevocations, quotingIdentity, rootRevocations } from './intel.ts'
import type { Members, WantedPiece } from './piece.ts'

/** The best available version of a piece; empty when none is available. */
export type FindPiece = (wanted: WantedPiece) => Promise<Members>

/** Characters: two for each byte of 64 KiB. */
const mostHex = 2 * 64 * 1024

/** Throws a Refusal when the value is no hex in lower case, is empty or is too long. */
const bytesOf = (value: unknown): Uint8Array => {
  demand(typeof value === 'string' && value.length <= mostHex && /^([0-9a-f]{2})+$/.test(value), 'evidence_malformed')
  return new Uint8Array(Buffer.from(value, 'hex'))
}

/** Both certificates, or null when one is missing. */
const both = ({ ica, ark }: Partial<Members>): Members | null => (ica && ark ? { ica, ark } : null)

const completeSnp = async (evidence: Evidence, find: FindPiece, from: AmdSource): Promise<Evidence> => {
  const report = readReport(bytesOf(evidence['report']))
  // An enclave of 1.0.0 names the blob `certificates`.
  const blob = evidence['auxblob'] ?? evidence['certificates']
  const given = typeof blob === 'string' ? splitAuxblob(Buffer.from(bytesOf(blob))) : {}
  const above = await find(authorities(report, both(given), from))
  const own = given.vek === undefined ? null : { vek: given.vek }
  const [vek, crl] = await Promise.all([
    find(endorsement(report, own, above, from)),
    find(revocations(report, above, from)),
  ])
  const { report: raw } = evidence
  return { type: 'sev-snp', v: 1, report: raw, certificates: { ...vek, ...above }, collateral: { ...crl } }
}

const completeTdx = async (evidence: Evidence, find: FindPiece, from: IntelSource): Promise<Evidence> => {
  const quote = evidence['quote'] ?? evidence['report']
  const [leaf, authority, root] = readPem(pemText(readQuote(bytesOf(quote)).chain), 3)
  const lists = await find(rootRevocations(root!, from))
  const beside = await Promise.all([
    find(platformRevocations(authority!, from)),
    find(levels(leaf!, lists, from)),
    find(quotingIdentity(lists, from)),
  ])
  return { type: 'tdx', v: 1, quote, collateral: Object.assign({ ...lists }, ...beside) as Members }
}

/** Adds the available certificates and lists that a client needs to evidence. Other kinds stay unchanged. */
export const completedEvidence = async (
  evidence: Evidence,
  find: FindPiece,
  from: { readonly amd: AmdSource; readonly intel: IntelSource },
): Promise<Evidence> => {
  if (evidence.type === 'sev-snp' && typeof evidence['certificates'] !== 'object')
    return completeSnp(evidence, find, from.amd)
  if (evidence.type === 'tdx' && evidence['collateral'] === undefined) return completeTdx(evidence, find, from.intel)
  return evidence
}
