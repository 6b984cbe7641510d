import '../../fakes/unwatched.ts'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { use, type AnyPlugin } from '../../../core/plugin.ts'
import { type FileToRead, Reader } from '../../../core/ports/reader.ts'
import { fitted } from '../../fitted.ts'

/** What a plugin of the family makes. */
export const made = (plugin: AnyPlugin): Reader => fitted(use(plugin)).supply({ readers: Reader }).readers[0]!

/** A stored file of `test/vectors/files`. */
export const stored = async (path: string): Promise<FileToRead> => ({
  name: basename(path),
  mime: '',
  bytes: new Uint8Array(await readFile(`test/vectors/files/${path}`)),
})

export const file = (name: string, content: string | Uint8Array, mime = ''): FileToRead => ({
  name,
  mime,
  bytes: Buffer.from(content),
})

export const soon = () => AbortSignal.timeout(60_000)
