import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import type { Test } from 'tap'

/** The verdicts over the cases of one suite. */
export interface Verdicts {
  passed(id: string): void
  failed(id: string, why: string): void
  /** A case that asks for what the product does not offer. */
  absent(id: string, reason: string): void
  /** Fails for each failed case, keeps the verdicts in `dist/suites`, and holds the totals in `docs/compared.md`. */
  told(t: Test): Promise<void>
}

const folder = 'dist/suites'

/** Keeps what a suite's own runner printed. */
export const keep = async (file: string, text: string): Promise<void> => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, file), text)
}

/** Verdicts under a name, as the table of suites in `docs/compared.md` has it. */
export const verdictsOf = (suite: string): Verdicts => {
  const lines: string[] = []
  const fails: string[] = []
  const reasons = new Map<string, number>()
  let passes = 0
  return {
    passed(id) {
      passes++
      lines.push(`pass  ${id}`)
    },
    failed(id, why) {
      fails.push(`${id}: ${why}`)
      lines.push(`FAIL  ${id}: ${why}`)
    },
    absent(id, reason) {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      lines.push(`none  ${id}: ${reason}`)
    },
    async told(t) {
      const absent = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(', ') || '–'
      const row = `| ${suite} | ${lines.length} | ${passes} | ${absent} |`
      const file = `${suite.replaceAll(/[^\w.-]+/g, '-').toLowerCase()}.txt`
      await keep(file, `${row}\n${lines.join('\n')}\n`)
      t.same(fails, [], `${suite}: ${passes} of ${lines.length} passed`)
      const page = await readFile('docs/compared.md', 'utf8')
      t.ok(page.includes(row), `docs/compared.md has the row: ${row}`)
    },
  }
}

/** Vectors that `vendor.ts` packed. */
export const vectorsIn = async (file: string): Promise<unknown> =>
  JSON.parse(brotliDecompressSync(await readFile(join('test/lab/suites/vectors', `${file}.br`))).toString())
