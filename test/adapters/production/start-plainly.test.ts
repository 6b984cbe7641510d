import '../../fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { program, served } from '../../fakes/served.ts'

const file = new URL('../../../adapters/production/start-plainly.js', import.meta.url)

/** V8 says so of each function that it has optimized, with its last compiler. */
const optimized = /completed (compiling|optimizing).*TURBOFAN/

t.test('a start optimizes no code, and a gateway that serves does', { timeout: 120_000 }, async (t) => {
  const env = { SEALGATE_DATA: join(t.testdir(), 'data'), SEALGATE_KEY: `sk_live_${'4'.repeat(44)}` }
  const server = await served(env, '--trace-opt', [program, 'serve'])
  const [start = ''] = server.said.split('sealgate listening on')
  t.notMatch(start, optimized)
  for (let asked = 0; asked < 20_000 && !optimized.test(server.said); asked++) {
    await (await fetch(`${server.base}/health/live`)).arrayBuffer()
  }
  t.match(server.said, optimized)
  await server.stop('SIGTERM')
})

/** What a program says whose start has filled the space for young objects. */
const ended = (): { readonly before: number; readonly after: number; readonly exposed: string } => {
  const code = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { runInNewContext } from 'node:vm'
    import { startPlainly } from '${file}'
    const started = startPlainly(process)
    const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
    let kept = []
    for (let at = 0; at < 300_000; at++) kept.push({ at })
    const before = young()
    kept = []
    started()
    console.log(JSON.stringify({ before, after: young(), exposed: runInNewContext('typeof gc') }))`
  return JSON.parse(spawnSync(process.execPath, ['--input-type=module', '--eval', code]).stdout.toString())
}

const isOld = Number.parseInt(process.versions.node) < 22 && 'this Node keeps little by itself'
t.test('the memory of the start is given back', { skip: isOld }, (t) => {
  const { before, after, exposed } = ended()
  t.ok(after < before / 4, `${after} of ${before} bytes for young objects`)
  t.equal(exposed, 'undefined', 'no page and no script can ask for a collection')
  t.end()
})

t.test('options by which a user chooses compilers stay', (t) => {
  const hot = 'const sum = (n) => { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s }; sum(5e7)'
  const code = `import { startPlainly } from '${file}'; startPlainly(process)(); ${hot}`
  const said = (...options: readonly string[]) =>
    spawnSync(process.execPath, ['--trace-opt', ...options, '--input-type=module', '--eval', code]).stdout.toString()
  t.match(said(), optimized)
  t.notMatch(said('--no-opt'), optimized)
  t.end()
})
