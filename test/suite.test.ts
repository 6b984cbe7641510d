import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { toldBy } from './tap-lines.ts'

const run = promisify(execFile)
const suite = fileURLToPath(new URL('./suite.js', import.meta.url))
const tap = import.meta.resolve('tap')

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
    'wrong.mjs': `import t from '${tap}'\nt.fail('wrong')`,
    'left.mjs': `import t from '${tap}'\nt.pass('fine')\nprocess.kill(process.pid, 'SIGKILL')`,
    'nothing.mjs': '',
  })
  const played = (...names: readonly string[]) =>
    run(process.execPath, [suite, '--jobs', '2', ...names.map((name) => join(folder, `${name}.mjs`))]).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { readonly code: number; readonly stdout: string }) => ({ code, stdout }),
    )
  t.match(await played('fine'), { code: 0, stdout: '# { total: 1, pass: 1, fail: 0, skip: 0 }' })
  t.match(await played('fine', 'wrong'), { code: 1, stdout: '# { total: 2, pass: 1, fail: 1, skip: 0 }' })
  t.match(await played('nothing'), { code: 1, stdout: 'not ok' })
  t.match(await played('left'), { code: 1, stdout: 'not ok' })
})
