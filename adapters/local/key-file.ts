import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as v from 'valibot'
import type { MemoryStore } from '../../plugins/sealed/client/memory.ts'
import { flushFolder } from '../../plugins/storage/shared/fsync.ts'

/** 32 bytes in hex, in lower case. */
const key = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

const Shape = v.strictObject({
  kek: key,
  wrapped_rag_dek: v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{80}$/))),
  /** The new key of a rotation, present until every file is wrapped with it. */
  next: v.optional(key),
})

/** Without `wrapped_rag_dek` (null), files can be stored and opened, but neither indexed nor searched. */
export type KeyFile = v.InferOutput<typeof Shape>

/** The path of the client's keys: the given path, SEALGATE_KEYS or the default. */
export const keyFileOf = (env: NodeJS.ProcessEnv, given: string | undefined): string =>
  given ?? env['SEALGATE_KEYS'] ?? './sealgate-keys.json'

/** Throws with the file's name and never with its content. */
export const readKeys = async (file: string): Promise<KeyFile> => {
  const text = await readFile(file, 'utf8').catch((cause) => {
    throw new Error(`${file} can't be read (${cause.code}); sealgate kek new makes one`, { cause })
  })
  const result = v.safeParse(Shape, jsonOf(text))
  if (!result.success) throw new Error(`${file} is not a file of keys`)
  return result.output
}

/** Null for a text that is no JSON. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Writes the file, readable by its owner only. A crash leaves a replaced file as it was, and may leave a part of a new one. An existing file is kept unless `replace` is true.
 */
export const writeKeys = (file: string, keys: KeyFile, replace: boolean): Promise<void> =>
  writeSecret(file, JSON.stringify(keys, null, 2), replace)

/** A memory with the path of its file. */
export interface MemoryFile extends MemoryStore {
  readonly file: string
}

/** The client's memory, in a file beside its keys, with one part for each KEK. */
export const memoryFileOf = (keyFile: string): MemoryFile => {
  const file = `${keyFile}.memory`
  return {
    file,
    load: () =>
      readFile(file, 'utf8').catch((cause) => {
        if (cause.code === 'ENOENT') return null
        throw new Error(`${file} can't be read (${cause.code})`, { cause })
      }),
    save: (text) => writeSecret(file, text, true),
  }
}

/** A replaced file changes in one step, after its bytes are on the disk. A new file must not be there yet. */
const writeSecret = async (file: string, text: string, replace: boolean): Promise<void> => {
  const draft = replace ? `${file}.${process.pid}.draft` : file
  const handle = await open(draft, replace ? 'w' : 'wx', 0o600).catch((cause) => {
    throw new Error(cause.code === 'EEXIST' ? `${file} is there already` : `${file} can't be written (${cause.code})`, {
      cause,
    })
  })
  try {
    await handle.writeFile(`${text}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  if (replace) await rename(draft, file)
  await flushFolder(dirname(file))
}
