import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from '../../../plugins/sealed/evidence/appraise.ts'
import { newChecks } from '../../../plugins/sealed/evidence/checks.ts'
import type { PlatformFacts } from '../../../plugins/sealed/evidence/finding.ts'
import type { PlatformPolicy } from '../../../plugins/sealed/evidence/policy.ts'
import { reasons } from '../../../plugins/sealed/evidence/reason-words.ts'
import { Refusal, demand } from '../../../plugins/sealed/evidence/reasons.ts'
import { type ClientValues, policyOf } from '../../local/client-options.ts'
import { timeOf } from '../../local/option-values.ts'
import { completing } from '../evidence/completing.ts'
import { type Source, folderSource, serviceSource } from '../evidence/sources.ts'
import { openUpstream } from '../network/fetch-upstream.ts'

/** The platform by the name of its provider in the kernel. */
const platforms: Readonly<Record<string, 'sev-snp' | 'tdx' | undefined>> = { sev_guest: 'sev-snp', tdx_guest: 'tdx' }

const sourceOf = (collateral: string | undefined): Source =>
  collateral === undefined ? serviceSource(openUpstream().door) : folderSource(collateral)

/** Options of `sealgate verify --boot`. */
export type BootValues = Pick<ClientValues, 'policy' | 'measurements' | 'memory'> & {
  readonly collateral?: string | undefined
  readonly at?: string | undefined
  readonly json?: boolean | undefined
}

/** What the options demand of the platform. */
const platformPolicyOf = (values: BootValues): PlatformPolicy => {
  const { allowInsecureDev: _, releases, ...policy } = policyOf(values)
  if (releases !== undefined)
    throw new Error('--boot cannot judge releases: no configuration stands behind a recorded boot')
  return policy
}

/** Measurements without releases count as they do for a client. */
const checkImage = (measurements: readonly string[], { measurement, hostData }: PlatformFacts): void => {
  demand(measurements.includes(measurement), 'measurement_not_allowed')
  demand(/^0*$/.test(hostData), 'policy_refused', 'hostData')
}

/** What the host laid beside the report; undefined where it laid nothing. */
const certificatesIn = (folder: string): Promise<Buffer | undefined> =>
  readFile(join(folder, 'certificates.bin')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** Judges the platform of a boot that `examples/record-boot.sh` recorded: 0 when it holds, 1 when it is refused. */
export const judgeBoot = async (
  folder: string,
  values: BootValues,
  show: (lines: readonly string[]) => void,
): Promise<number> => {
  const policy = platformPolicyOf(values)
  const { measurements } = policy
  const textOf = async (name: string): Promise<string> => (await readFile(join(folder, name), 'utf8')).trim()
  const platform = platforms[await textOf('provider.txt')]
  if (platform === undefined) throw new Error('provider.txt names neither sev_guest nor tdx_guest')
  const [report, question] = [await readFile(join(folder, 'report.bin')), await readFile(join(folder, 'question.bin'))]
  const recorded = Date.parse(await textOf('time.txt'))
  if (question.length !== 64 || Number.isNaN(recorded))
    throw new Error('The record has no question of 64 bytes, or no time')
  const now = timeOf(values.at, recorded)
  const checks = newChecks()
  const expected = { keysetHash: question.subarray(0, 32), challenge: question.subarray(32), now }
  try {
    const complete = completing(sourceOf(values.collateral), policy, now)
    const evidence = await complete(platform, report, await certificatesIn(folder))
    const found = await inspect(evidence, policy, expected, checks)
    if (measurements !== undefined) await checks.run('measurement', () => checkImage(measurements, found))
    const { product, chip, tcb, measurement, exceptions, warnings } = found
    const facts = { verified: true, platform, product, chip, tcb, measurement, exceptions, warnings }
    const lines = [
      ...checks.done.map(({ id }) => `✓ ${id}`),
      `✓ ${product}, chip ${chip ?? 'unnamed'}, patch level ${JSON.stringify(tcb)}`,
      measurements === undefined
        ? `! measurement ${measurement}, compared with nothing`
        : `✓ measurement ${measurement}, which the policy names`,
      ...exceptions.map(({ allow, because }) => `! excepted: ${allow}, because ${because}`),
      ...warnings.map(({ detail }) => `! ${detail}`),
    ]
    show(values.json ? [JSON.stringify(facts)] : lines)
    return 0
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { reason, detail } = error
    const line = `✗ ${reason}${detail === null ? '' : ` (${detail})`}. ${reasons[reason]}.`
    const lines = [...checks.done.map(({ id, ok }) => `${ok ? '✓' : '✗'} ${id}`), line]
    show(values.json ? [JSON.stringify({ verified: false, reason, detail, checks: checks.done })] : lines)
    return 1
  }
}
