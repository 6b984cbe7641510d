import '../../fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { ended, npmWith, unwanted } from './python.ts'
import { keep, verdictsOf } from './verdicts.ts'

const run = promisify(execFile)

t.setTimeout(900_000)

/** A linter's verdict by its code, with what it printed kept beside. */
const judged = async (suite: string, folder: string, [program, ...args]: readonly [string, ...string[]]) => {
  const { code, out, err } = await ended(join(folder, 'node_modules/.bin', program), args)
  await keep(`${suite.replaceAll(/\W+/g, '-')}-run.txt`, out + err)
  const verdicts = verdictsOf(suite)
  if (code === 0) verdicts.passed(suite)
  else verdicts.failed(suite, `${code}: ${(out + err).slice(-3000)}`)
  await verdicts.told(t)
}

t.test('linters of packages and of the interface', { skip: unwanted, timeout: 900_000 }, async (t) => {
  const folder = await npmWith('publint@0.3.25', '@arethetypeswrong/cli@0.18.5', '@redocly/cli@2.77.0')
  await run(process.execPath, ['test/client-package.mjs'])
  const place = t.testdir()
  const pack = async (path: string): Promise<string> => {
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', place, path]
    const { stdout } = await run('npm', args, { maxBuffer: 1 << 26 })
    return join(place, (JSON.parse(stdout) as [{ filename: string }])[0].filename)
  }
  const tree = join(place, 'tree')
  await run(process.execPath, ['test/merged.mjs', tree])
  for (const [name, path] of Object.entries({ sealgate: tree, 'sealgate-client': './dist/client-package' })) {
    const archive = await pack(path)
    await judged(`publint, ${name}`, folder, ['publint', archive, '--strict'])
    // The package is for modules alone: `require` of Node 20.19 and newer loads them.
    await judged(`attw, ${name}`, folder, ['attw', archive, '--profile', 'esm-only', '--format', 'ascii'])
  }
  const skipped = ['info-license', 'no-server-example.com', 'operation-4xx-response', 'operation-operationId']
  const args = skipped.flatMap((rule) => ['--skip-rule', rule])
  await judged('redocly lint', folder, ['redocly', 'lint', 'docs/openapi.json', ...args])
})
