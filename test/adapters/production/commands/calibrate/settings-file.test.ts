import { chmod, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readCases } from '../../../../../adapters/production/commands/calibrate/cases.ts'
import { replaceFile, withCalibration } from '../../../../../adapters/production/commands/calibrate/settings-file.ts'

const calibration = { id: 'abc', temperature: 1.5, byOptions: { 2: 2 } }
const words = JSON.stringify(calibration)

t.test('a calibration is written where the model stands, and nothing else changes', async (t) => {
  const before =
    '{\n  // ours\n  "models": {\n    "m": {\n      "decide": true, // yes\n      "upstreams": [],\n    },\n  },\n}\n'
  const once = withCalibration(before, 'm', calibration)
  t.equal(once, before.replace('{\n      "decide"', `{\n      "calibration": ${words},\n      "decide"`))
  const other = { id: 'def', temperature: 1, byOptions: {} }
  t.equal(withCalibration(once, 'm', other), once.replace(words, JSON.stringify(other)), 'the old one is replaced')
  t.equal(
    withCalibration('{"models":{"m":{}}}', 'm', other),
    `{"models":{"m":{"calibration": ${JSON.stringify(other)}}}}`,
  )
  for (const text of ['{}', '{"models":{"n":{}}}', '{"models":{"m":1}}'])
    t.throws(() => withCalibration(text, 'm', calibration), /does not name the model/)
})

t.test('a file keeps its permissions and its link, and leaves no other behind', async (t) => {
  const folder = t.testdir({ real: {} })
  const file = join(folder, 'real', 'a.json')
  await writeFile(file, 'old')
  await chmod(file, 0o640)
  await symlink(file, join(folder, 'b.json'))
  await replaceFile(join(folder, 'b.json'), 'new')
  t.equal(await readFile(file, 'utf8'), 'new')
  t.equal((await stat(file)).mode & 0o777, 0o640)
  t.same([await readdir(join(folder, 'real')), await readdir(folder)], [['a.json'], ['b.json', 'real']])
})

t.test('cases are read in order, each once, and what is no case is told by its line alone', async (t) => {
  const file = join(t.testdir(), 'cases.jsonl')
  const choice = { type: 'choice', instructions: 'Which?', criteria: { 10: null, b: null } }
  const read = async (...lines: readonly unknown[]) => {
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'))
    return (await readCases(file)).map(({ truth }) => truth)
  }
  const one = { state: 'x', question: choice, answer: 'b' }
  const noul = { state: 'x', question: { type: 'noul', instructions: 'Is it?' }, answer: false }
  const score = { state: 'x', question: { type: 'score', instructions: 'How?', criteria: ['a', 'b', 'c'] }, answer: 2 }
  t.same(await read(one, noul, score, one), [1, 1, 2])
  const wrong = [
    { ...one, answer: 'secret' },
    { ...noul, answer: 'true' },
    { ...score, answer: 3 },
    { ...score, answer: 0.5 },
    { ...one, question: { ...choice, criteria: { b: null } } },
    { ...one, question: null },
    ['secret'],
  ]
  for (const value of wrong) await t.rejects(read(one, value), { message: /^line 2 of the cases: (?!.*secret)/ })
})
