import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from '../../../plugins/sealed/evidence/appraise.ts'
import { newChecks } from '../../../plugins/sealed/evidence/checks.ts'
import { reasons } from '../../../plugins/sealed/evidence/reason-words.ts'
import { Refusal } from '../../../plugins/sealed/evidence/reasons.ts'
import { completing } from '../evidence/completing.ts'
import { type Source, folderSource, serviceSource } from '../evidence/sources.ts'
import { openUpstream } from '../network/fetch-upstream.ts'

/** The platform by the name of its provider in the kernel. */
const platforms: Readonly<Record<string, 'sev-snp' | 'tdx' | undefined>> = { sev_guest: 'sev-snp', tdx_guest: 'tdx' }

const sourceOf = (collateral: string | undefined): Source =>
  collateral === undefined ? serviceSource(openUpstream().door) : folderSource(collateral)

/** Judges the platform of a boot that `examples/record-boot.sh` recorded: 0 when it holds, 1 when it is refused. */
export const judgeBoot = async (
  folder: string,
  { collateral, json = false }: { readonly collateral?: string | undefined; readonly json?: boolean | undefined },
  show: (lines: readonly string[]) => void,
): Promise<number> => {
  const textOf = async (name: string): Promise<string> => (await readFile(join(folder, name), 'utf8')).trim()
  const platform = platforms[await textOf('provider.txt')]
  if (platform === undefined) throw new Error('provider.txt names neither sev_guest nor tdx_guest')
  const [report, question] = [await readFile(join(folder, 'report.bin')), await readFile(join(folder, 'question.bin'))]
  const now = Date.parse(await textOf('time.txt'))
  if (question.length !== 64 || Number.isNaN(now)) throw new Error('The record has no question of 64 bytes, or no time')
  const policy = { platforms: [platform] }
  const checks = newChecks()
  const expected = { keysetHash: question.subarray(0, 32), challenge: question.subarray(32), now }
  try {
    const evidence = await completing(sourceOf(collateral), policy, now)(platform, report)
    const { product, chip, tcb, measurement, warnings } = await inspect(evidence, policy, expected, checks)
    const facts = { verified: true, platform, product, chip, tcb, measurement, warnings }
    const lines = [
      ...checks.done.map(({ id }) => `✓ ${id}`),
      `✓ ${product}, chip ${chip ?? 'unnamed'}, patch level ${JSON.stringify(tcb)}`,
      `! measurement ${measurement}, compared with nothing`,
      ...warnings.map(({ detail }) => `! ${detail}`),
    ]
    show(json ? [JSON.stringify(facts)] : lines)
    return 0
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { reason, detail } = error
    const line = `✗ ${reason}${detail === null ? '' : ` (${detail})`}. ${reasons[reason]}.`
    const lines = [...checks.done.map(({ id, ok }) => `${ok ? '✓' : '✗'} ${id}`), line]
    show(json ? [JSON.stringify({ verified: false, reason, detail, checks: checks.done })] : lines)
    return 1
  }
}
