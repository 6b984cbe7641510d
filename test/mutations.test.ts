import { access, readFile } from 'node:fs/promises'
import t from 'tap'
import { mutants } from './lab/mutations/evidence/mutants.ts'
import { mutantRows, removalRows } from './lab/mutations/evidence/mutants-page.ts'
import { removals } from './lab/mutations/evidence/removals.ts'
import { equivalence, readRemoved } from './lab/mutations/evidence/removed.ts'
import { mutations } from './lab/mutations.ts'

t.test('every mutation stands once in its file, and names a test', async (t) => {
  const texts = new Map<string, string>()
  for (const { file, test, from, to, breaks } of mutations) {
    const text = texts.get(file) ?? (await readFile(file, 'utf8'))
    texts.set(file, text)
    if (text.split(from).length !== 2) t.fail(`${file}: "${from}" stands there ${text.split(from).length - 1} times`)
    if (from === to) t.fail(`${file}: "${from}" is not changed`)
    if (!/^[A-Z].*\.$/.test(breaks)) t.fail(`${file}: "${breaks}" is no sentence`)
    await access(test).catch(() => t.fail(`${file}: there is no ${test}`))
  }
  const places = mutations.map(({ file, from, to }) => `${file}\n${from}\n${to}`)
  t.equal(new Set(places).size, mutations.length, 'none stands twice')
  t.ok(mutations.length >= 120, `${mutations.length} mutations`)
})

t.test('every mutant of the verifiers stands once in its file', async (t) => {
  for (const { file, name, text, instead, also } of mutants)
    for (const [from, to] of [[text, instead] as const, ...(also === undefined ? [] : [also])]) {
      const source = await readFile(`plugins/sealed/evidence/${file}`, 'utf8')
      t.equal(source.split(from).length, 2, name)
      t.not(from, to, name)
    }
})

t.test('no check of the verifiers was removed unnoticed, and the report counts those that wait', async (t) => {
  const removed = readRemoved()
  const living = removals().filter((removal) => removed.get(removal.mark) === 'LIVES' && equivalence(removal) === null)
  t.strictSame(
    living.map(({ file, line, text }) => `${file}:${line} ${text}`),
    [],
    'npm run mutate:evidence:all -- --new',
  )
  const page = await readFile('docs/mutants.md', 'utf8')
  for (const row of removalRows()) t.ok(page.includes(row), row)
  t.ok(removals().length > 250, `${removals().length} checks`)
})

t.test('the report on the verifiers names every mutant, and none that lives', async (t) => {
  const page = (await readFile('docs/mutants.md', 'utf8')).split('\n').filter((line) => /^\| \d/.test(line))
  const rows = mutantRows()
  t.strictSame(
    page.map((line) => line.replace(/ [^|]* \|$/, '')),
    rows,
    'npm run mutate:evidence',
  )
  t.strictSame(
    page.filter((line) => line.includes('LIVES')),
    [],
  )
  t.equal(new Set(rows.map((row) => row.split(' ')[1])).size, 30, 'all thirty numbers')
})
