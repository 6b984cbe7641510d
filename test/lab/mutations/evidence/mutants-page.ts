import { readFile, writeFile } from 'node:fs/promises'
import { type Mutant, mutants } from './mutants.ts'
import { removals } from './removals.ts'
import { equivalence, readRemoved } from './removed.ts'

const file = 'docs/mutants.md'

const head = `# Mutants of the verifiers

Each of these changes breaks one check of \`plugins/sealed/evidence\`, and the case that is named here has to fail. \`npm run mutate:evidence\` plays them and writes this page.

| | mutant | file | case | verdict |
|---|---|---|---|---|
`

const rowOf = ({ number, name, file, test, by }: Mutant): string =>
  `| ${number} | ${name} | \`${file}\` | \`${test}.test.ts\`, “${by}” |`

/** The rows of the page as they have to stand there, each without its verdict. */
export const mutantRows = (): readonly string[] => mutants.map(rowOf)

/** The last report on every check that was removed alone: how many each file has, and which tests noticed. */
export const removalRows = (): readonly string[] => {
  const [all, removed] = [removals(), readRemoved()]
  const verdictOf = (removal: (typeof all)[number]) =>
    equivalence(removal) === null ? (removed.get(removal.mark) ?? 'not played') : 'equivalent'
  return [...new Set(all.map(({ file }) => file))].map((file) => {
    const own = all.filter((removal) => removal.file === file).map(verdictOf)
    const tests = [...new Set(own.filter((text) => /^[a-z-]+$/.test(text) && text !== 'equivalent'))].sort()
    const count = (verdict: string) => own.filter((text) => text === verdict).length
    const noticed = own.length - count('equivalent') - count('LIVES') - count('not played')
    const names = tests.map((test) => `\`${test}.test.ts\``).join(', ')
    return `| \`${file}\` | ${noticed} | ${count('LIVES')} | ${count('equivalent')} | ${count('not played')} | ${names} |`
  })
}

const removedHead = `
## Every check removed

\`npm run mutate:evidence:all\` removes each check of \`plugins/sealed/evidence\` alone: each \`demand\`, each call that checks, and each condition that refuses. The tests have to fail by an assertion.

| file | noticed | living | equivalent | not played | by |
|---|---|---|---|---|---|
`

/** Removals that change no outcome, each with its reason. */
const equivalentRows = (): readonly string[] =>
  removals().flatMap((removal) => {
    const because = equivalence(removal)
    return because === null ? [] : [`* \`${removal.file}\`: \`${removal.text}\` ${because}\n`]
  })

/** Writes the verdicts of the mutants that were played; the others keep theirs. */
export const writeMutantsPage = async (played: ReadonlyMap<Mutant, string>): Promise<void> => {
  const before = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  const verdictOf = (mutant: Mutant): string => {
    const row = rowOf(mutant)
    const last = before.find((line) => line.startsWith(row))?.slice(row.length)
    return played.get(mutant) ?? last?.replace(/ \|$/, '').trim() ?? 'not played'
  }
  const rows = mutants.map((mutant) => `${rowOf(mutant)} ${verdictOf(mutant)} |\n`)
  const removed = removalRows().map((row) => `${row}\n`)
  const same = `\n**Equivalent.** Without these checks every outcome is the same, for the reason that is given.\n\n`
  await writeFile(file, [head, ...rows, removedHead, ...removed, same, ...equivalentRows()].join(''))
}
