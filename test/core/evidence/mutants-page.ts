import { readFile, writeFile } from 'node:fs/promises'
import { type Mutant, mutants } from './mutants.ts'

const file = 'docs/mutants.md'

const head = `# Mutants of the verifiers

Each of these changes breaks one check of \`core/sealed/evidence\`, and the case that is named here has to fail. \`npm run mutate:evidence\` plays them and writes this page.

| | mutant | file | case | verdict |
|---|---|---|---|---|
`

const rowOf = ({ number, name, file, test, by }: Mutant): string =>
  `| ${number} | ${name} | \`${file}\` | \`${test}.test.ts\`, “${by}” |`

/** The rows of the page as they have to stand there, each without its verdict. */
export const mutantRows = (): readonly string[] => mutants.map(rowOf)

/** Writes the verdicts of the mutants that were played; the others keep theirs. */
export const writeMutantsPage = async (played: ReadonlyMap<Mutant, string>): Promise<void> => {
  const before = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  const verdictOf = (mutant: Mutant): string => {
    const row = rowOf(mutant)
    const last = before.find((line) => line.startsWith(row))?.slice(row.length)
    return played.get(mutant) ?? last?.replace(/ \|$/, '').trim() ?? 'not played'
  }
  const rows = mutants.map((mutant) => `${rowOf(mutant)} ${verdictOf(mutant)} |\n`)
  await writeFile(file, head + rows.join(''))
}
