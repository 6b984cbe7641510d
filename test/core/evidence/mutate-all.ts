import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'

/**
 * Removes every `demand` of core/sealed/evidence, one at a time, and tells which removal no test notices.
 * `npm run mutate:evidence:all -- snp` tries the files that begin so.
 */
const folder = mkdtempSync(join(tmpdir(), 'sealgate-mutants-'))
const begin = process.argv[2] ?? ''

/** Removals that change nothing, each with the reason. */
const equivalent: readonly { readonly file: string; readonly begins: string; readonly because: string }[] = [
  {
    file: 'cbor.ts',
    begins: 'demand(at + length <= bytes.length',
    because: 'what is cut leaves the place beyond the end, which the last check refuses with the same reason',
  },
]

/** Which tests look at a file, the likeliest first. */
const testsOf = (file: string): readonly string[] => {
  if (file.startsWith('snp')) return ['snp-table', 'appraise']
  if (file.startsWith('tdx') || file === 'pem.ts') return ['tdx-table', 'tdx-real']
  if (file.startsWith('nitro') || file === 'cbor.ts') return ['nitro']
  if (/^(der|keys|certificate|chain|revocation-list)\.ts$/.test(file)) return ['readers', 'snp-table', 'tdx-table']
  return ['appraise', 'snp-table', 'tdx-table']
}

const notices = (test: string): boolean => {
  const env = { ...process.env, TAP_TIMEOUT: '240', SEALGATE_FUZZ: '200' }
  const path = join('dist/test/core/evidence', `${test}.test.js`)
  const { status } = spawnSync(process.execPath, [path], { cwd: folder, env, stdio: 'ignore', timeout: 300_000 })
  return status !== 0
}

const compiled = (source: string): string =>
  ts.transpileModule(source, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      rewriteRelativeImportExtensions: true,
      verbatimModuleSyntax: true,
    },
  }).outputText

/** Where each statement `demand(…)` begins and ends. */
const demands = (source: string): readonly (readonly [number, number])[] => {
  const tree = ts.createSourceFile('it.ts', source, ts.ScriptTarget.ES2023, true)
  const found: [number, number][] = []
  const look = (node: ts.Node): void => {
    const call = ts.isExpressionStatement(node) && ts.isCallExpression(node.expression) ? node.expression : null
    if (call?.expression.getText() === 'demand') found.push([node.getStart(), node.getEnd()])
    ts.forEachChild(node, look)
  }
  look(tree)
  return found
}

try {
  for (const name of ['dist', 'package.json']) cpSync(name, join(folder, name), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  symlinkSync(join(process.cwd(), 'test'), join(folder, 'test'))
  let [tried, living] = [0, 0]
  for (const file of readdirSync('core/sealed/evidence').filter((it) => it.startsWith(begin))) {
    const source = readFileSync(join('core/sealed/evidence', file), 'utf8')
    const built = join(folder, 'dist/core/sealed/evidence', file.replace(/\.ts$/, '.js'))
    const whole = readFileSync(built)
    for (const [from, to] of demands(source)) {
      const same = equivalent.find((it) => it.file === file && source.startsWith(it.begins, from))
      if (same !== undefined) {
        console.log(`equivalent ${file}: ${same.because}`)
        continue
      }
      tried++
      writeFileSync(built, compiled(`${source.slice(0, from)};${source.slice(to)}`))
      if (testsOf(file).some(notices)) continue
      living++
      const line = source.slice(0, from).split('\n').length
      console.log(`LIVES ${file}:${line} ${source.slice(from, to).replaceAll(/\s+/g, ' ')}`)
    }
    writeFileSync(built, whole)
  }
  console.log(`${tried - living} of ${tried} removed checks noticed`)
  process.exitCode = living === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}
