import type { Complete } from '../../../plugins/sealed/evidence/services/machine.ts'
import { type PlatformPolicy, readPolicy } from '../../../plugins/sealed/evidence/policy.ts'
import { rulesOf } from '../../../plugins/sealed/evidence/rules.ts'
import { completedEvidence } from './complete-evidence.ts'
import type { WantedPiece } from './piece.ts'
import type { Source } from './sources.ts'

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Where the makers of processors publish certificates and lists. */
const makers = {
  amd: 'https://kdsintf.amd.com',
  intel: 'https://api.trustedservices.intel.com',
  intelRootList: 'https://certificates.trustedservices.intel.com/IntelSGXRootCA.der',
}

/** As `Complete`, with what the host laid beside the report. */
type CompleteRecord = (...given: readonly [...Parameters<Complete>, blob?: Uint8Array]) => ReturnType<Complete>

/**
 * Lays certificates and lists beside a report: those of the host, where they are genuine, and else those of the source. A
 * piece that is missing stays out, and is refused later.
 */
export const completing = (source: Source, policy: PlatformPolicy, now: number, from = makers): CompleteRecord => {
  const { snp, tdx } = rulesOf(readPolicy(policy), now)
  const services = {
    amd: { service: from.amd, rules: snp },
    intel: { service: from.intel, rootList: from.intelRootList, rules: tdx },
  }
  const find = async (wanted: WantedPiece) => {
    const { given } = wanted
    const isGenuine = given !== null && (await wanted.check(given, now).catch(() => null)) !== null
    return isGenuine ? given : source(wanted).then(wanted.read, () => ({}))
  }
  return (platform, report, blob) => {
    const raw = hexOf(report)
    const beside = blob !== undefined && blob.length > 0 ? { auxblob: hexOf(blob) } : {}
    const evidence = { type: platform, v: 1, ...(platform === 'tdx' ? { quote: raw } : { report: raw, ...beside }) }
    return completedEvidence(evidence, find, services)
  }
}
