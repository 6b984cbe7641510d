import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { filesVariable, playedLine } from './parts.ts'

/**
 * Plays the files of a turn in this process, one after another, and prints what each of them counted. They stand in a
 * variable: the library names folders after the arguments, which therefore only tell processes apart.
 */
const files = JSON.parse(process.env[filesVariable] ?? '[]') as readonly string[]
delete process.env[filesVariable]

type End = () => unknown
let ends: End[] = []
// After the first teardown the library ends the tests of the whole process: each file has its own teardown here.
Object.assign(t, { teardown: (end: End) => void ends.unshift(end) })

for (const file of files) {
  const [began, before] = [performance.now(), { ...t.counts }]
  ends = []
  try {
    await import(pathToFileURL(resolve(file)).href)
  } catch (fault) {
    t.error(fault, `${file} is loaded`)
  }
  // Tests run in the order of their calls: when this one runs, the others of the file are over.
  await t.test(`the end of ${file}`, async () => {
    for (const end of ends) await end()
  })
  const { total, pass, fail, skip } = t.counts
  const own = [total - before.total, pass - before.pass, fail - before.fail, skip - before.skip] as const
  t.comment(playedLine(file, performance.now() - began, own))
}
t.end()
