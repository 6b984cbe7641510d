import './fakes/unwatched.ts'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, readdir, stat, symlink, utimes } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import t from 'tap'
import { folderOf } from './helpers.ts'

const sources = ['core', 'plugins', 'adapters', 'examples', 'docs', 'test']
const beside = ['package.json', 'npm-shrinkwrap.json', 'tsconfig.json', 'README.md', 'LICENSE', 'SECURITY.md']

type Variables = Readonly<Record<string, string>>

const ran = (command: string, args: readonly string[], cwd: string, { umask = '022', ...env }: Variables) =>
  new Promise<string>((done, fail) => {
    const own = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env }
    const line = ['-c', `umask ${umask}; exec "$0" "$@"`, command, ...args]
    execFile('sh', line, { cwd, env: own }, (error, out, err) => (error ? fail(new Error(err + out)) : done(out)))
  })

/** So many days from now, for every program of Node. */
const shifted = (days: number): string => {
  const ms = days * 86_400_000
  const code = `const D=Date;globalThis.Date=class extends D{constructor(...a){a.length?super(...a):super(D.now()+${ms})}static now(){return D.now()+${ms}}}`
  return `--import data:text/javascript,${encodeURIComponent(code)}`
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Builds and packs the sources in a folder of their own: SHA-256 of the package, and of each file in it with its mode. */
const packed = async (folder: string, env: Variables) => {
  await mkdir(folder, { recursive: true })
  for (const name of [...sources, ...beside]) await cp(name, join(folder, name), { recursive: true })
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
  await utimes(join(folder, 'README.md'), 1e9, 1e9)
  // A checkout under this mask has files that nobody else may read.
  if (env['umask'] === '077') await ran('chmod', ['-R', 'go=', ...sources, ...beside], folder, {})
  await ran('npm', ['pack', '--silent', '--cache', join(dirname(folder), 'cache')], folder, env)
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))!
  await ran('tar', ['-xzf', tarball], folder, {})
  const inside = join(folder, 'package')
  const entries = (await readdir(inside, { recursive: true, withFileTypes: true })).filter((name) => name.isFile())
  const files = entries.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name)
    const { mode } = await stat(path)
    return `${relative(inside, path)} ${(mode & 0o777).toString(8)} ${sha256(await readFile(path))}`
  })
  const whole = sha256(await readFile(join(folder, tarball)))
  return { whole, files: (await Promise.all(files)).toSorted() }
}

const same = 'the same sources give the same package, wherever, whenever and by whom they are packed'

t.test(same, { timeout: 1_800_000 }, async (t) => {
  const folder = await folderOf(t)
  const turkish = { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' }
  const one = await packed(join(folder, 'here'), { TZ: 'UTC', LC_ALL: 'C' })
  const other = await packed(join(folder, 'quite', 'another place'), {
    ...turkish,
    umask: '077',
    NODE_OPTIONS: shifted(400),
  })
  t.ok(one.files.length > 500)
  t.strictSame(
    one.files.filter((file) => !other.files.includes(file)),
    other.files.filter((file) => !one.files.includes(file)),
  )
  t.equal(one.whole, other.whole)
})
