import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled } from '../../../compiled.ts'
import { type Mutant, mutants } from './mutants.ts'
import { writeMutantsPage } from './mutants-page.ts'

/**
 * Breaks one check after another in a copy of what was built, and demands that the named case fails.
 * `npm run mutate:evidence -- 5 22` tries these numbers alone.
 */
const folder = mkdtempSync(join(tmpdir(), 'sealgate-mutants-'))
const wanted = process.argv.slice(2).map(Number)

const outputOf = (test: string): string => {
  const file = join('dist/test/plugins/sealed/evidence', `${test}.test.js`)
  const env = { ...process.env, TAP_TIMEOUT: '240' }
  const { stdout } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8', timeout: 300_000, env })
  return stdout
}

/** Null when the mutant was noticed by the named case; otherwise what happened instead. */
const lives = ({ file, text, instead, also, test, by }: Mutant): string | null => {
  let source = readFileSync(join('plugins/sealed/evidence', file), 'utf8')
  for (const [from, to] of [[text, instead] as const, ...(also === undefined ? [] : [also])]) {
    const times = source.split(from).length - 1
    if (times !== 1) return `the text stands ${times} times in ${file}`
    source = source.replace(from, () => to)
  }
  const built = join(folder, 'dist/plugins/sealed/evidence', file.replace(/\.ts$/, '.js'))
  const whole = readFileSync(built)
  writeFileSync(built, compiled(source))
  const words = outputOf(test)
  writeFileSync(built, whole)
  const failed = words.split('\n').filter((line) => /^\s+not ok/.test(line))
  if (failed.some((line) => line.trim().endsWith(`- ${by}`))) return null
  return failed.length === 0 ? 'it lives' : `it fails elsewhere: ${failed[0]!.trim()}`
}

try {
  for (const name of ['dist', 'package.json']) cpSync(name, join(folder, name), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  symlinkSync(join(process.cwd(), 'test'), join(folder, 'test'))
  const chosen = mutants.filter(({ number }) => wanted.length === 0 || wanted.includes(number))
  for (const test of new Set(chosen.map(({ test }) => test)))
    if (/^\s*not ok/m.test(outputOf(test))) throw new Error(`${test} fails without a mutant`)
  let living = 0
  const played = new Map<Mutant, string>()
  for (const mutant of chosen) {
    const how = lives(mutant)
    if (how !== null) living++
    played.set(mutant, how === null ? 'killed' : `LIVES: ${how}`)
    console.log(
      `${how === null ? 'killed' : 'LIVES '} ${mutant.number} ${mutant.name}${how === null ? '' : `: ${how}`}`,
    )
  }
  console.log(`${chosen.length - living} of ${chosen.length} mutants killed`)
  await writeMutantsPage(played)
  process.exitCode = living === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}
