import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { version } from '../../config/version.ts'
import { type Packages, foreignPackages, readLock } from './lock.ts'

/** Runs a program to its end: what it wrote. Throws with its own words when it fails. */
const ran = (program: string, args: readonly string[], cwd: string): Promise<string> =>
  new Promise((done, fail) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const [out, err]: [Buffer[], Buffer[]] = [[], []]
    child.stdout.on('data', (bytes: Buffer) => out.push(bytes))
    child.stderr.on('data', (bytes: Buffer) => err.push(bytes))
    child.on('error', (cause) => fail(new Error(`${program} could not be started`, { cause })))
    child.on('close', (code) => {
      const output = Buffer.concat(out).toString()
      if (code === 0) done(output.trim())
      else fail(new Error(`${program} ${args[0]} failed:\n${Buffer.concat(err).toString()}${output}`))
    })
  })

/** The commit that is checked out in a clone, in a folder of its own. */
export interface Source {
  readonly folder: string
  readonly commit: string
  readonly name: string
  readonly version: string
  /** The bytes of npm-shrinkwrap.json. */
  readonly shrinkwrap: string
  readonly packages: Packages
}

/**
 * Works with the files of the commit alone, beside the packages that are installed in the clone. The folder is gone
 * afterwards. Throws when other packages are installed than the shrinkwrap locks.
 */
export const withSource = async <T>(clone: string, work: (source: Source) => Promise<T>): Promise<T> => {
  const whole = await mkdtemp(join(tmpdir(), 'sealgate-release-'))
  try {
    const commit = await ran('git', ['rev-parse', '--verify', 'HEAD'], clone)
    const folder = join(whole, 'source')
    await mkdir(folder)
    // The modes are those of the commit, whatever the settings of the clone.
    const archive = join(whole, 'source.tar')
    await ran('git', ['-c', 'tar.umask=0022', 'archive', '--format=tar', `--output=${archive}`, commit], clone)
    await ran('tar', ['-xpf', archive], folder)
    const shrinkwrap = await readFile(join(folder, 'npm-shrinkwrap.json'), 'utf8')
    const packages = readLock(shrinkwrap)
    const installed = await readFile(join(clone, 'node_modules/.package-lock.json'), 'utf8').catch(() => {
      throw new Error('npm ci has to run in the source before')
    })
    const foreign = foreignPackages(packages, installed)
    if (foreign.length > 0)
      throw new Error(`${foreign[0]} is another package than the shrinkwrap locks: npm ci has to run in the source`)
    await symlink(resolve(clone, 'node_modules'), join(folder, 'node_modules'))
    const { name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    return await work({ folder, commit, name, version, shrinkwrap, packages })
  } finally {
    await rm(whole, { recursive: true, force: true })
  }
}

/** The same source. Throws when this program is another release, whose digests would say another version. */
export const ownSource = async (source: Source): Promise<Source> => {
  const own = await version()
  if (source.version !== own) throw new Error(`the source is release ${source.version}, this program release ${own}`)
  return source
}

/** Builds and packs the source: the bytes of the package. */
export const packed = async ({ folder }: Source): Promise<Uint8Array> => {
  const into = join(folder, '..', 'packed')
  await mkdir(into)
  await ran('npm', ['pack', '--silent', '--pack-destination', into], folder)
  const [tarball, ...more] = await readdir(into)
  if (tarball === undefined || more.length > 0) throw new Error('npm pack made no package')
  return readFile(join(into, tarball))
}

/** What decides over the bytes of a package beside its source. */
export const toolsOf = async ({ folder }: Source): Promise<{ readonly node: string; readonly npm: string }> => ({
  node: process.versions.node,
  npm: await ran('npm', ['--version'], folder),
})
