import { appraise, inspect } from '../../../plugins/sealed/evidence/appraise.ts'
import { toHex } from '../../../plugins/sealed/wire/bytes.ts'
import { withoutChromium } from '../../fakes/chromium.ts'
import { type AskedEvidence, evidenceTab } from '../../fakes/evidence-tab.ts'
import { makeNitro } from '../../fakes/platform/nitro.ts'
import { makeSnp } from '../../fakes/platform/snp.ts'
import { makeTdx } from '../../fakes/platform/tdx.ts'
import { intervalOf } from './interval.ts'

/** Ms that a page may take for one verification. */
const most = 50
const rounds = 60

/** Evidence of each platform that holds in everything. */
const evidences = async (): Promise<readonly AskedEvidence[]> => {
  const [now, reportData] = [Date.now(), new Uint8Array(64).fill(7)]
  const half = reportData.subarray(32)
  const question = { keysetHash: half, challenge: half, releaseDigest: half, now }
  const [snp, tdx, nitro] = [makeSnp({ now, reportData }), makeTdx({ now, reportData }), makeNitro({ now, reportData })]
  const made = [
    { evidence: snp.evidence, roots: { snp: snp.root }, testRoots: { 'sev-snp': snp.roots } },
    { evidence: tdx.evidence, roots: { tdx: tdx.root }, testRoots: { tdx: tdx.roots } },
    { evidence: nitro.evidence, roots: { nitro: nitro.root }, testRoots: { nitro: nitro.roots } },
  ] as const
  return Promise.all(
    made.map(async ({ evidence, roots, testRoots }) => {
      const platforms = ['sev-snp', 'tdx', 'nitro'] as const
      const { measurement } = await inspect(evidence, { platforms, testRoots }, question)
      const policy = { platforms, measurements: [measurement] }
      await appraise(evidence, { ...policy, testRoots }, question)
      return { evidence, policy, roots, now, reportData: toHex(reportData) }
    }),
  )
}

const figures = ({ middle, low, high }: { readonly middle: number; readonly low: number; readonly high: number }) =>
  `${middle.toFixed(2)} ms (${low.toFixed(2)} to ${high.toFixed(2)} in ${rounds} rounds`

/** What a verification takes in a page, beside one signature in the same page. */
export const evidence = async (): Promise<readonly string[]> => {
  if (withoutChromium !== false) return [`skipped: ${withoutChromium}`]
  const tab = await evidenceTab()
  try {
    await tab.signing(rounds)
    const baseline = intervalOf(await tab.signing(rounds))
    const lines = [`one signature of P-384: ${figures(baseline)})`]
    for (const asked of await evidences()) {
      const { said: text, ms } = await tab.tried(asked, rounds + 5)
      const interval = intervalOf(ms.slice(5))
      if (!text.startsWith('test ')) throw new Error(`the page says ${text}`)
      const beyond = interval.middle > most ? ', BEYOND' : ''
      const ratio = (interval.middle / baseline.middle).toFixed(1)
      lines.push(
        `${text.slice(5)} in Chromium: ${figures(interval)}; at most ${most}${beyond}), ${ratio} times a signature`,
      )
    }
    return lines
  } finally {
    await tab.close()
  }
}
