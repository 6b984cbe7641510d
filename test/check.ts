import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { lint } from './lint.ts'

/** `npm run check`: types, format, rooms and lint of what changed since the last commit; with `--all`, of everything. */
const all = process.argv.includes('--all')
const execute = promisify(execFile)
/** The tests among the steps take longer on a busy machine than the library allows by itself. */
const env = { ...process.env, TAP_TIMEOUT: '600' }
const run = (program: string, given: readonly string[], options = {}) => execute(program, given, { ...options, env })
/** By its path: the API of the linter brings a compiler of the same name. */
const bin = (name: string) => (name === 'tsc' ? 'node_modules/typescript/bin/tsc' : `node_modules/.bin/${name}`)

const changed = async (): Promise<readonly string[]> => {
  const [edited, added] = await Promise.all([
    run('git', ['diff', '--name-only', 'HEAD']),
    run('git', ['ls-files', '--others', '--exclude-standard']),
  ])
  return `${edited.stdout}${added.stdout}`.split('\n').filter((file) => file.endsWith('.ts') && existsSync(file))
}

/** What a program complains of; nothing when it ends well. */
const complaints = (name: string, ...given: readonly string[]): Promise<string> =>
  run(bin(name), given, { maxBuffer: 1 << 26 }).then(
    () => '',
    (error: { readonly stdout?: string; readonly stderr?: string }) =>
      `${error.stdout ?? ''}${error.stderr ?? ''}` || String(error),
  )

const files = all ? ['core', 'plugins', 'adapters', 'examples', 'test'] : await changed()

const linted = async (): Promise<string> =>
  lint(all ? undefined : files)
    .map(({ file, line, words }) => `${file}:${line}: ${words}\n`)
    .join('')

const steps: Readonly<Record<string, () => Promise<string>>> = {
  // With `--all` they are built, too: the tests that come next, as in CI, then find the build there.
  types: () => complaints('tsc', ...(all ? [] : ['--noEmit', '--tsBuildInfoFile', 'dist/check.tsbuildinfo'])),
  format: async () => (files.length === 0 ? '' : complaints('prettier', '--check', ...files)),
  rooms: () => complaints('tsx', 'test/architecture.test.ts'),
  lint: linted,
}

const began = Date.now()
const texts = await Promise.all(
  Object.entries(steps).map(async ([name, step]) => {
    const words = await step()
    const ms = Date.now() - began
    process.stdout.write(words === '' ? `${name}: fine after ${ms} ms\n` : `${name}: FAILED after ${ms} ms\n${words}`)
    return words
  }),
)
process.exit(texts.every((words) => words === '') ? 0 : 1)
