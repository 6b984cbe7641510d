import { checkChain, clockSkewMs } from './chain.ts'
import type { Checks } from './checks.ts'
import { type EvidenceMembers, bytesOf, isZero } from './fields.ts'
import type { PlatformFacts } from './finding.ts'
import { checkSignature } from './keys.ts'
import { nitroMeasurement } from './measurement.ts'
import { type NitroDocument, mostDocument, readDocument } from './nitro-document.ts'
import { demand, refuse } from './reasons.ts'
import type { NitroRules } from './rules.ts'

/** PCR0, PCR1 and PCR2: the image, its kernel with boot files, and the application. */
const images = [0, 1, 2] as const

/** The registers that identify the code. A register of zeros means an enclave in debug mode. */
const imagesOf = ({ pcrs }: NitroDocument): readonly [Uint8Array, Uint8Array, Uint8Array] => {
  const found = images.map((index) => pcrs.get(index) ?? refuse('evidence_malformed', 'pcrs'))
  for (const register of found) demand(!isZero(register), 'debug', 'pcrs')
  return found as [Uint8Array, Uint8Array, Uint8Array]
}

/** Throws unless a genuine Amazon enclave made this document recently and is not in debug mode. */
export const checkNitro = async (
  evidence: EvidenceMembers,
  rules: NitroRules,
  now: number,
  checks: Checks,
): Promise<PlatformFacts> => {
  const document = await checks.run('parse', () => readDocument(bytesOf(evidence, 'document', mostDocument)))
  const { chain, pcrs, timestamp, userData } = document
  const [leaf] = chain
  await checks.run('certificates', () => checkChain(chain, [rules.root], now))
  await checks.run('signature', () =>
    checkSignature(leaf!.key, 'ecdsa-sha384', document.signature, document.signed, ['signature_invalid', 'document']),
  )
  const [pcr0, pcr1, pcr2] = await checks.run('machine', () => imagesOf(document))
  await checks.run('age', () => {
    demand(now - timestamp <= rules.maximumAge, 'evidence_stale', 'too old')
    demand(timestamp - now <= clockSkewMs, 'evidence_stale', 'of the future')
  })
  const reportData = await checks.run('user data', () =>
    userData?.length === 64 ? userData : refuse('report_data_mismatch', 'user_data'),
  )
  const pcr8 = pcrs.get(8)
  return {
    reportData,
    measurement: await nitroMeasurement({ pcr0, pcr1, pcr2, ...(pcr8 && { pcr8 }) }),
    registers: null,
    hostData: '',
    guestSvn: 0,
    product: 'Nitro',
    chip: null,
    tcb: {},
    collateral: chain.map(({ notBefore, notAfter }) => ({ piece: 'certificate', issued: notBefore, ends: notAfter })),
    seen: {},
    exceptions: [],
    warnings: [{ code: 'amazon_fleet', detail: "Amazon's word stands for the patch level of its machines" }],
  }
}
