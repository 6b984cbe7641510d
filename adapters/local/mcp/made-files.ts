import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import type { OpenedFile } from '../../../plugins/sealed/client/file-shapes.ts'
import { extensionOf } from '../mimes.ts'
import { Refusal } from './refusal.ts'
import { type Root, isWithin } from './roots.ts'

/** Writes an opened file and returns its place. */
export type KeepMadeFile = (
  file: OpenedFile,
  signal: AbortSignal,
) => Promise<{ readonly uri: string; readonly path: string }>

/** A result inside a root could be read and sent by the next call. */
const refuseInside = (folder: string, roots: readonly Root[]): void => {
  if (roots.some(({ real }) => isWithin(real, folder)))
    throw new Error('--out names a folder outside every --root: results are not sent back')
}

/**
 * Opens the folder for results, outside all roots. Without a name, a temporary folder is made with the first result.
 */
export const openResultFolder = async (given: string | undefined, roots: readonly Root[]): Promise<KeepMadeFile> => {
  if (given !== undefined) await mkdir(given, { recursive: true, mode: 0o700 })
  const parent = await realpath(given ?? tmpdir())
  refuseInside(parent, roots)
  let own: Promise<string> | null = given === undefined ? null : Promise.resolve(parent)

  return async (file, signal) => {
    const folder = await (own ??= mkdtemp(join(parent, 'sealgate-mcp-')))
    if ((await realpath(folder)) !== folder) throw new Refusal('The folder of results was exchanged')
    const path = join(folder, `${randomBytes(8).toString('hex')}${extensionOf(file.mime)}`)
    const handle = await open(path, 'wx', 0o600)
    try {
      await pipeline(Readable.from(file.content), handle.createWriteStream(), { signal })
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
    return { uri: pathToFileURL(path).href, path }
  }
}
