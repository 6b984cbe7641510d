import type { Complete } from '../../../plugins/sealed/evidence/services/machine.ts'
import { type PlatformPolicy, readPolicy } from '../../../plugins/sealed/evidence/policy.ts'
import { rulesOf } from '../../../plugins/sealed/evidence/rules.ts'
import { completedEvidence } from './complete-evidence.ts'
import type { Source } from './sources.ts'

/** Where the makers of processors publish certificates and lists. */
const makers = {
  amd: 'https://kdsintf.amd.com',
  intel: 'https://api.trustedservices.intel.com',
  intelRootList: 'https://certificates.trustedservices.intel.com/IntelSGXRootCA.der',
}

/** Lays certificates and lists of the source beside a report. A piece that is missing stays out, and is refused later. */
export const completing = (source: Source, policy: PlatformPolicy, now: number, from = makers): Complete => {
  const { snp, tdx } = rulesOf(readPolicy(policy), now)
  const services = {
    amd: { service: from.amd, rules: snp },
    intel: { service: from.intel, rootList: from.intelRootList, rules: tdx },
  }
  return (platform, report) => {
    const raw = Buffer.from(report).toString('hex')
    const evidence = { type: platform, v: 1, ...(platform === 'tdx' ? { quote: raw } : { report: raw }) }
    return completedEvidence(evidence, (wanted) => source(wanted).then(wanted.read, () => ({})), services)
  }
}
