import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { program } from '../../../fakes/served.ts'
import { definitionCases } from './definitions.ts'

interface Figures {
  readonly accuracy: number
  readonly ece: number
  readonly byChance: number
  readonly excess: number
  readonly brier: number
}

interface Report {
  readonly cases: number
  readonly before: Figures
  readonly after: Figures
  readonly calibration: object
  readonly promise: { readonly confidence: number; readonly automated: number; readonly wrong: number } | null
}

/** The excess that a calibrated model may show on questions that it was not fitted to. */
const asked = 0.03

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`

const row = (name: string, { accuracy, ece, byChance, excess, brier }: Figures): string =>
  `${name}: accuracy ${percent(accuracy)}, ECE ${ece.toFixed(3)}, by chance ${byChance.toFixed(3)}, ` +
  `excess ${excess.toFixed(3)}, Brier ${brier.toFixed(3)}`

/** `sealgate calibrate use-lite` on definitions of WordNet: what its held-out half says. */
export const calibration = async (): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-calibration-'))
  try {
    const cases = (await definitionCases()).map((value) => JSON.stringify(value))
    const file = join(folder, 'cases.jsonl')
    await writeFile(file, cases.join('\n'))
    const env = { PATH: process.env['PATH'], SEALGATE_DATA: join(folder, 'data') }
    const args = [program, 'calibrate', 'use-lite', '--cases', file, '--json']
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    const { cases: count, before, after, calibration, promise } = JSON.parse(stdout) as Report
    return [
      `use-lite, ${count} questions about definitions of WordNet; a half is held out`,
      row('before', before),
      `${row('calibrated', after)} (excess at most ${asked}${after.excess > asked ? ', BEYOND' : ''})`,
      promise === null
        ? 'no confidence keeps errors below 5 %'
        : `from a confidence of ${promise.confidence}, at most 5 % are wrong: ${percent(promise.automated)} of all, of which ${percent(promise.wrong)} were`,
      JSON.stringify(calibration),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
