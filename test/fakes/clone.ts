import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { version } from '../../adapters/production/config/version.ts'

/** Runs a program without any settings of the person who tests. */
export const inFolder = (cwd: string, program: string, args: readonly string[], umask = '022'): Promise<string> =>
  new Promise((done, fail) => {
    const line = ['-c', `umask ${umask}; exec "$0" "$@"`, program, ...args]
    const env = {
      ...{ PATH: process.env['PATH'], HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
      ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.org' },
      ...{ GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.org' },
    }
    execFile('sh', line, { cwd, env }, (error, out, err) => (error ? fail(new Error(err + out)) : done(out.trim())))
  })

const installed = 'node_modules/.package-lock.json'

/** Three packages as the own shrinkwrap locks them: one that is needed, one that may be left out, one that builds. */
const chosen = ['node_modules/valibot', 'node_modules/yaml', 'node_modules/typescript']

export const commit = async (folder: string): Promise<void> => {
  await inFolder(folder, 'git', ['add', '--all'])
  await inFolder(folder, 'git', ['commit', '--quiet', '--message', 'a step'])
}

/** A repository of a small package of our name and version, which is built when it is packed. */
export const smallRepository = async (folder: string): Promise<void> => {
  const own = JSON.parse(await readFile('npm-shrinkwrap.json', 'utf8')) as { packages: Record<string, object> }
  const packages = Object.fromEntries(chosen.map((path) => [path, own.packages[path]!]))
  const root = { name: 'sealgate', version: await version(), license: 'MIT', dependencies: { valibot: '*' } }
  const build = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
mkdirSync('dist', { recursive: true })
writeFileSync('dist/index.js', readFileSync('index.ts', 'utf8').replaceAll(': number', ''))`
  const files: Readonly<Record<string, string>> = {
    '.gitignore': 'node_modules\ndist\n',
    'package.json': JSON.stringify({
      ...root,
      type: 'module',
      files: ['dist'],
      scripts: { prepack: 'node build.mjs' },
    }),
    'npm-shrinkwrap.json': JSON.stringify({ ...root, lockfileVersion: 3, packages: { '': root, ...packages } }),
    'build.mjs': build,
    'index.ts': 'export const answer: number = 42\n',
    [installed]: JSON.stringify({ packages }),
  }
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  await inFolder(folder, 'git', ['init', '--quiet'])
  await commit(folder)
}

/** A stranger's clone, whose new files nobody else may read. */
export const cloneOf = async (folder: string, to: string): Promise<string> => {
  await inFolder(folder, 'git', ['clone', '--quiet', folder, to], '077')
  await mkdir(join(to, 'node_modules'))
  await copyFile(join(folder, installed), join(to, installed))
  return to
}
