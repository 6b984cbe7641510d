import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { checked } from './model/checked.ts'
import { variants } from './model/variants.ts'

const isHere = (program: string): boolean => spawnSync(program, ['--version']).error === undefined
const skip = isHere('spin') && isHere('gcc') ? false : 'spin and gcc are not installed here'
/** The night plays two whole calls at once, which takes minutes. */
const isNight = process.env['SEALGATE_WHOLE'] === '1'

t.setTimeout(1_800_000)

t.test('no attack on a call breaks a property', { skip }, async (t) => {
  const { broken, states } = await checked(['SESSIONS=1'])
  t.equal(broken, null)
  t.ok(states > 1_000, `${states} states`)
})

t.test(
  'no attack on two calls at once breaks a property',
  { skip: isNight ? skip : 'the night', timeout: 1_500_000 },
  async (t) => {
    const { broken, states } = await checked(['SESSIONS=2'], '-O2')
    t.equal(broken, null)
    t.ok(states > 100_000, `${states} states`)
  },
)

t.test(
  'each known attack breaks its property as soon as its defence is gone',
  { skip, jobs: 2, timeout: 300_000 },
  (t) => {
    for (const { name, breaks, calls = 1 } of variants)
      void t.test(name, { timeout: 60_000 }, async (t) =>
        t.equal((await checked([name, `SESSIONS=${calls}`])).broken, breaks),
      )
    t.end()
  },
)

t.test('the page and the model know the same variants', async (t) => {
  const known = variants.map(({ name }) => name).sort()
  const model = new Set(
    readFileSync('test/model/sealed-road.pml', 'utf8').match(/\b(WITH_\w+|WITHOUT_(?!X)\w+|WITNESS)\b/g),
  )
  t.strictSame([...model].sort(), known)
  const page = new Set(readFileSync('docs/model.md', 'utf8').match(/\b(WITH_\w+|WITHOUT_\w+|WITNESS)\b/g))
  t.strictSame([...page].sort(), known)
})
