import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { filesVariable, partsOf } from './suite/parts.ts'
import { planned } from './suite/plan.ts'
import { withSources } from './suite/sources.ts'
import { toldBy } from './tap-lines.ts'

const run = promisify(execFile)
const suite = fileURLToPath(new URL('./suite.js', import.meta.url))
const together = fileURLToPath(new URL('./suite/together.js', import.meta.url))
const tap = import.meta.resolve('tap')
// `npm run mutate` ends a test at its first failure; the files that are played here fail on purpose.
delete process.env['TAP_BAIL']

t.test('what a file of tests says is read whole', async (t) => {
  const failing = [
    'TAP version 14',
    '# Subtest: herons',
    '    ok 1 - wade',
    '    not ok 2 - swim',
    '      ---',
    '      expected: no',
    '      ...',
    '    ok 3 - fly # SKIP no wind',
    '    1..3',
    'not ok 1 - herons # time=1.2ms',
    '1..1',
    '# { total: 3, pass: 1, fail: 1, skip: 1 }',
    '# time=2.3ms',
  ].join('\n')
  t.same(toldBy(failing), {
    total: 3,
    passed: 1,
    failed: 1,
    skipped: ['fly # SKIP no wind'],
    complaints: [
      '    not ok 2 - swim',
      '      ---',
      '      expected: no',
      '      ...',
      'not ok 1 - herons # time=1.2ms',
    ],
  })
  t.match(toldBy('1..0 # SKIP no server'), { total: 0, failed: 0, skipped: ['# SKIP no server'] })
  t.equal(toldBy('TAP version 14\nok 1 - wade\n'), null, 'a file without sums ended before its tests')
})

t.test('the suite fails with any of its files, and with one that says nothing', async (t) => {
  const folder = t.testdir({
    'fine.mjs': `import t from '${tap}'\nt.pass('fine')`,
    'other.mjs': `import t from '${tap}'\nt.pass('other')`,
    'wrong.mjs': `import t from '${tap}'\nt.fail('wrong')`,
    'left.mjs': `import t from '${tap}'\nt.pass('fine')\nprocess.kill(process.pid, 'SIGKILL')`,
    'late.mjs': `import t from '${tap}'\nt.pass('fine')\nsetTimeout(() => { throw new Error('a late error') })`,
    'untracked.mjs': `import { createHook } from 'node:async_hooks'\nimport t from '${tap}'\nt.equal(createHook({}), createHook({}))`,
    'nothing.mjs': '',
  })
  const played = (...names: readonly string[]) =>
    run(process.execPath, [
      suite,
      '--jobs',
      '2',
      ...names.map((name) => (name.startsWith('--') ? name : join(folder, `${name}.mjs`))),
    ]).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { readonly code: number; readonly stdout: string }) => ({ code, stdout }),
    )
  t.match(await played('fine'), { code: 0, stdout: '# { total: 1, pass: 1, fail: 0, skip: 0 }' })
  t.match(await played('fine', 'wrong'), { code: 1, stdout: '# { total: 2, pass: 1, fail: 1, skip: 0 }' })
  t.match(await played('nothing'), { code: 1, stdout: 'not ok' })
  t.match(await played('untracked'), { code: 0 }, 'nothing follows its promises')
  t.match(await played('left'), { code: 1, stdout: 'not ok' })
  t.match(await played('late'), { code: 1, stdout: 'a late error' })

  const fine = join(folder, 'fine.mjs')
  const shared = (name: string) => played('fine', name, '--together')
  t.match(await played('fine', 'other', '--together'), { code: 0, stdout: '# { total: 2, pass: 2, fail: 0, skip: 0 }' })
  for (const name of ['wrong', 'left', 'late', 'nothing'])
    t.match(await shared(name), { code: 1, stdout: `ok ${fine} ` }, `${name}, in one process`)
})

t.test('a few files that failed are measured once more alone, and the output names them', async (t) => {
  const folder = t.testdir({
    'late.mjs': `import { existsSync, writeFileSync } from 'node:fs'
      import t from '${tap}'
      const wasPlayed = existsSync(new URL('played', import.meta.url))
      writeFileSync(new URL('played', import.meta.url), '')
      t.ok(wasPlayed)`,
    'wrong.mjs': `import t from '${tap}'\nt.fail('always')`,
    'worse.mjs': `import t from '${tap}'\nt.fail('always')`,
  })
  const played = (...given: readonly string[]) =>
    run(process.execPath, [suite, ...given.map((name) => (name.startsWith('--') ? name : join(folder, name)))]).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { readonly code: number; readonly stdout: string }) => ({ code, stdout }),
    )
  const again = '# again, alone: '
  const once = await played('late.mjs', '--again=1')
  t.match(once, { code: 0, stdout: `${again}${join(folder, 'late.mjs')}` })
  t.match(await played('wrong.mjs', '--again=1'), { code: 1, stdout: again }, 'a true fault stays one')
  const many = await played('wrong.mjs', 'worse.mjs', '--again=1')
  t.equal(many.code, 1)
  t.notOk(many.stdout.includes(again), 'many faults have no second measure')
})

const noProc = process.platform === 'linux' ? false : 'the system does not tell'

t.test('the suite tells what each file cost, with the processes that it started', { skip: noProc }, async (t) => {
  const burn = `const until = ({ user }) => { while (process.cpuUsage().user < user) {} }; until({ user: 600_000 })`
  const folder = t.testdir({
    'costly.mjs': `import { execFileSync } from 'node:child_process'
      import t from '${tap}'
      execFileSync(process.execPath, ['--eval', '${burn}'])
      t.pass('costly')`,
    'cheap.mjs': `import t from '${tap}'\nt.pass('cheap')`,
  })
  const files = ['costly', 'cheap'].map((name) => join(folder, `${name}.mjs`))
  for (const more of [['--jobs', '1'], ['--together']]) {
    const { stdout } = await run(process.execPath, [suite, ...more, ...files])
    const [costly = 0, cheap = Infinity, whole = 0] = [...stdout.matchAll(/([\d.]+) s of CPU/g)].map(([, text]) =>
      Number(text),
    )
    t.ok(costly >= 0.6, `${costly} s of a process that was started`)
    t.ok(cheap < costly && whole > costly, `${cheap} s of the next, of ${whole}`)
  }
})

t.test('files of one process are played in their order, and each is judged by what it says', async (t) => {
  const folder = t.testdir({
    'herons.mjs': `import t from '${tap}'
      t.teardown(() => t.comment('herons are gone'))
      t.test('wade', async (t) => { t.pass('wade'); t.ok(!globalThis.ferries, 'before the ferries') })
      t.test('fly', { skip: 'no wind' }, () => {})`,
    'ferries.mjs': `import t from '${tap}'
      globalThis.ferries = true
      await t.test('sail', async (t) => t.equal(1, 2, 'sail'))`,
    'broken.mjs': `throw new Error('it can not be loaded')`,
    'quays.mjs': `import t from '${tap}'
      t.pass('quays')`,
    'left.mjs': `import t from '${tap}'
      t.pass('fine')
      process.kill(process.pid, 'SIGKILL')`,
  })
  const heard = (output: string) => {
    const told = toldBy(output)
    return told && { ...told, complaints: told.complaints.join('\n') }
  }
  const play = async (...names: readonly string[]) => {
    const files = names.map((name) => join(folder, `${name}.mjs`))
    const env = { ...process.env, [filesVariable]: JSON.stringify(files) }
    const { stdout, code } = await run(process.execPath, [together, names.join()], { env }).then(
      (ended) => ({ ...ended, code: 0 }),
      (ended: { readonly code: number; readonly stdout: string }) => ended,
    )
    const { parts, rest } = partsOf(stdout)
    return { code, rest, told: files.map((file) => heard(parts.get(file)?.output ?? '')), stdout }
  }
  const { code, told, stdout } = await play('herons', 'ferries', 'broken', 'quays')
  t.equal(code, 1)
  t.match(told, [
    { total: 3, passed: 2, failed: 0, skipped: ['fly # SKIP no wind'], complaints: '' },
    { total: 1, failed: 1, complaints: /not ok 1 - sail/ },
    { total: 1, failed: 1, complaints: /it can not be loaded/ },
    { total: 1, passed: 1, failed: 0, complaints: '' },
  ])
  t.ok(stdout.indexOf('herons are gone') < stdout.indexOf('# Subtest: sail'), 'each has its own teardown')
  t.equal((await play('herons', 'quays')).code, 0)
  const early = await play('quays', 'left', 'herons')
  t.match(early.told, [{ total: 1, failed: 0 }, null, null], 'what did not come to its end has no verdict')
})

t.test('every file of tests is played by one of two commands, and by the night', async (t) => {
  const found = (await readdir('dist/test', { recursive: true }))
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join('dist/test', file))
    .toSorted()
  const [short, long, all] = await Promise.all([planned('short'), planned('long'), planned('all')])
  t.same([...short.turns.flat(), ...long.turns.flat()].toSorted(), found, 'a file is played once')
  t.same(all.turns.flat().toSorted(), found)
  t.same(all.resting, [])
  t.same(
    short.resting.toSorted(),
    long.turns
      .flat()
      .map((file) => file.slice(10, -8))
      .toSorted(),
    'and named elsewhere',
  )
  t.ok(short.turns.flat().includes('dist/test/interface.test.js'), 'most files are played by npm test')
})

// `npm run mutate` plays the tests on a copy without maps.
const unmapped = !existsSync('dist/test/slowness.js.map') && 'the maps are not there'

t.test('a place in the compiled code is told as that of its source', { skip: unmapped }, async (t) => {
  const compiled = (await readFile('dist/test/slowness.js', 'utf8')).split('\n')
  const source = (await readFile('test/slowness.ts', 'utf8')).split('\n')
  const lineOf = (lines: readonly string[]) => lines.findIndex((line) => line.includes('quietClock')) + 1
  t.match(withSources(`at (dist/test/slowness.js:${lineOf(compiled)}:14)`), `at (test/slowness.ts:${lineOf(source)}:`)
  t.equal(withSources('at dist/none.js:1:1'), 'at dist/none.js:1:1', 'as it stands where there is no map')
})
