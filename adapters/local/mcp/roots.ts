import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isGitIgnored } from './git-ignored.ts'
import { Refusal } from './refusal.ts'

/** An allowed folder: `said` is the path as given, `real` the path without links. */
export interface Root {
  readonly spelled: string
  readonly real: string
}

/** An open file. The caller closes its handle. */
export interface LocalFile {
  readonly handle: FileHandle
  readonly name: string
  readonly path: string
  /** In bytes. */
  readonly size: number
}

/** The path from a folder to a file inside it. Null when the file is outside. */
const pathInside = (folder: string, path: string): string | null => {
  const way = relative(folder, path)
  return way === '' || way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way) ? null : way
}

/** A folder lies within itself. Both paths must be free of links. */
export const isWithin = (folder: string, path: string): boolean => path === folder || pathInside(folder, path) !== null

/** Throws when a path is not a folder, and on systems that do not tell which file a descriptor opened. */
export const rootsOf = async (given: readonly string[]): Promise<readonly Root[]> => {
  if (given.length > 0 && !['linux', 'darwin'].includes(process.platform))
    throw new Error('--root works on Linux and macOS alone')
  return Promise.all(
    given.map(async (path) => {
      const real = await realpath(path).catch(() => null)
      if (real === null || !(await lstat(real)).isDirectory()) throw new Error('--root names a folder')
      return { spelled: resolve(path), real }
    }),
  )
}

/** On macOS no part of the path may be a link; elsewhere only the last part is checked. */
const noLinks = process.platform === 'darwin' ? 0x2000_0000 : constants.O_NOFOLLOW
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | noLinks

const links = 'The path leads over a link, or changed while it was opened'

/** The path of the opened file, as the kernel names it. */
const openedPath = async (handle: FileHandle, wanted: string): Promise<string> =>
  process.platform === 'linux' ? readlink(`/proc/self/fd/${handle.fd}`) : wanted

/** Throws unless the descriptor is a plain file at exactly this path and has no other name. */
const checked = async (handle: FileHandle, path: string): Promise<LocalFile> => {
  const stats = await handle.stat()
  if (!stats.isFile()) throw new Refusal('The path is no plain file')
  if (stats.nlink !== 1) throw new Refusal('The file has more than one name')
  if ((await openedPath(handle, path)) !== path) throw new Refusal(links)
  return { handle, path, name: basename(path), size: stats.size }
}

/** A link and a missing right are named; every other cause counts as a missing file. */
const orRefused = (cause: NodeJS.ErrnoException): never => {
  if (cause.code === 'ELOOP') throw new Refusal(links)
  throw new Refusal(cause.code === 'EACCES' ? 'The file may not be read' : 'There is no such file')
}

/** Rejects with a Refusal in words for the agent. The caller closes the file. */
export type OpenFile = (path: string) => Promise<LocalFile>

/** Opens files only under the roots. Relative paths begin at the first root. */
export const fileOpener = (roots: readonly Root[], hidden: boolean, env: NodeJS.ProcessEnv): OpenFile => {
  const placed = (named: string): { readonly root: Root; readonly way: string } => {
    const [first] = roots
    if (first === undefined) throw new Refusal('No folder is allowed; sealgate mcp --root FOLDER allows one')
    const path = /^file:\/\//.test(named) && URL.canParse(named) ? fileURLToPath(named) : named
    if (path.includes('\0')) throw new Refusal('There is no such file')
    const whole = resolve(first.real, path)
    for (const root of roots) {
      const way = pathInside(root.real, whole) ?? pathInside(root.spelled, whole)
      if (way !== null) return { root, way }
    }
    throw new Refusal('The path is outside the folders that are allowed')
  }

  return async (named) => {
    const { root, way } = placed(named)
    const path = join(root.real, way)
    if (!hidden && way.split(sep).some((part) => part.startsWith('.')))
      throw new Refusal('The file is hidden; --hidden allows such files')
    // Opening a device may already have an effect.
    const seen = await lstat(path).catch(orRefused)
    if (seen.isSymbolicLink()) throw new Refusal(links)
    if (!seen.isFile()) throw new Refusal('The path is no plain file')
    const handle = await open(path, flags).catch(orRefused)
    try {
      const file = await checked(handle, path)
      if (!hidden && (await isGitIgnored(root.real, path, env)))
        throw new Refusal('Git ignores the file; --hidden allows such files')
      return file
    } catch (error) {
      await handle.close()
      throw error
    }
  }
}
