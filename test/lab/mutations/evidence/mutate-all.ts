import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compiled } from '../../../compiled.ts'
import { writeMutantsPage } from './mutants-page.ts'
import { type Removal, removals, without } from './removals.ts'
import { equivalence, readRemoved, writeRemoved } from './removed.ts'

/**
 * Removes every check of plugins/sealed/evidence, one at a time, and tells which removal no test notices.
 * `npm run mutate:evidence:all -- snp` removes those of files that begin so, `--new` those without a verdict.
 */
const { values, positionals } = parseArgs({
  options: { new: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [begin = ''] = positionals
const folder = mkdtempSync(join(tmpdir(), 'sealgate-mutants-'))

/** Which tests look at a file, the likeliest first. */
const testsOf = (file: string): readonly string[] => {
  if (file.startsWith('snp')) return ['snp-table', 'appraise', 'snp-real']
  if (file.startsWith('tdx')) return ['tdx-table', 'tdx-real']
  if (file === 'pem.ts') return ['tdx-table', 'readers']
  if (file.startsWith('nitro') || file === 'cbor.ts') return ['nitro']
  if (/^(der|keys|certificate|chain|revocation-list)\.ts$/.test(file))
    return ['readers', 'snp-table', 'tdx-table', 'appraise']
  return ['appraise', 'snp-table', 'tdx-table', 'nitro']
}

/** Whether an assertion of the test failed. A test that ends without one, or by its time, counts as a fault of the run. */
const notices = (test: string): boolean => {
  const env = { ...process.env, TAP_TIMEOUT: '240', TAP_BAIL: '1', SEALGATE_FUZZ: '200' }
  const path = join('dist/test/plugins/sealed/evidence', `${test}.test.js`)
  const options = { cwd: folder, env, encoding: 'utf8', timeout: 300_000, maxBuffer: 1 << 28 } as const
  const { status, stdout } = spawnSync(process.execPath, [path], options)
  if (status === 0) return false
  if (/^\s*not ok/m.test(stdout) && !/^\s*not ok .*timeout/m.test(stdout)) return true
  throw new Error(`${test} ended without an assertion that failed`)
}

const fit = new Set<string>()

/** Throws when the test fails with every check in its place. */
const demandFit = (test: string): void => {
  if (fit.has(test)) return
  if (notices(test)) throw new Error(`${test} fails with every check in its place`)
  fit.add(test)
}

/** The test that notices, or LIVES. */
const tried = (removal: Removal): string => {
  const built = join(folder, 'dist/plugins/sealed/evidence', removal.file.replace(/\.ts$/, '.js'))
  const whole = readFileSync(built)
  const broken = compiled(without(removal))
  const noticed = testsOf(removal.file).find((test) => {
    demandFit(test)
    writeFileSync(built, broken)
    const seen = notices(test)
    writeFileSync(built, whole)
    return seen
  })
  return noticed ?? 'LIVES'
}

try {
  for (const name of ['dist', 'package.json']) cpSync(name, join(folder, name), { recursive: true })
  for (const name of ['node_modules', 'test', 'docs']) symlinkSync(join(process.cwd(), name), join(folder, name))
  const all = removals()
  const removed = new Map(readRemoved())
  const chosen = all
    .filter(({ file }) => file.startsWith(begin))
    .filter(
      (removal) => equivalence(removal) === null && !(values.new && (removed.get(removal.mark) ?? 'LIVES') !== 'LIVES'),
    )
    // A check that lived is the first to be tried again.
    .sort((one, other) => Number(removed.get(other.mark) === 'LIVES') - Number(removed.get(one.mark) === 'LIVES'))
  let living = 0
  for (const removal of chosen) {
    const verdict = tried(removal)
    removed.set(removal.mark, verdict)
    writeRemoved(all, removed)
    if (verdict === 'LIVES') living++
    console.log(`${verdict} ${removal.file}:${removal.line} ${removal.text}`)
  }
  console.log(`${chosen.length - living} of ${chosen.length} removed checks noticed`)
  await writeMutantsPage(new Map())
  process.exitCode = living === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}
