import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { cpuOfEnded } from './cpu.ts'
import { filesVariable, lastCheck, playedLine } from './parts.ts'

/**
 * Plays the files of a turn in this process, one after another, and prints where each of them ends. They stand in a
 * variable: the library names folders after the arguments, which therefore only tell processes apart.
 */
const files = JSON.parse(process.env[filesVariable] ?? '[]') as readonly string[]
delete process.env[filesVariable]

/** Ms of CPU of this process and of those that it waited for. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + (cpuOfEnded() ?? 0) * 1000
}

type End = () => unknown
let ends: End[] = []
// After the first teardown the library ends the tests of the whole process: each file has its own teardown here.
Object.assign(t, { teardown: (end: End) => void ends.unshift(end) })

for (const file of files) {
  const [began, spent] = [performance.now(), cpuMs()]
  ends = []
  try {
    await import(pathToFileURL(resolve(file)).href)
  } catch (fault) {
    t.error(fault, `${file} is loaded`)
  }
  const faults: unknown[] = []
  // Tests run in the order of their calls: when this one runs, the others of the file are over.
  await t.test(lastCheck(file), async () => {
    for (const end of ends)
      try {
        await end()
      } catch (fault) {
        faults.push(fault)
      }
  })
  for (const fault of faults) t.error(fault, `${file} ends`)
  t.comment(playedLine(file, performance.now() - began, cpuMs() - spent))
}
t.end()
