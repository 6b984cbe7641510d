import { randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { type Files, connect } from '../../plugins/sealed/client/client.ts'
import { SealgateError } from '../../plugins/sealed/client/error.ts'
import { type FileRecord, type FileType, fileTypes } from '../../plugins/sealed/client/file-shapes.ts'
import { isThere } from '../../plugins/sealed/client/index-and-rotate.ts'
import type { Source } from '../../plugins/sealed/client/byte-source.ts'
import { clientOf, clientOptions } from './client-options.ts'
import { keyFileOf, memoryFileOf, readKeys } from './key-file.ts'
import { errorText } from './error-text.ts'
import { mimeOf } from './mimes.ts'
import { progress } from './progress.ts'
import { commandUsages } from '../production/commands/help.ts'

/** A client's files from the command line. The command seals and opens the content itself. */
export const files = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...clientOptions,
      keys: { type: 'string' },
      out: { type: 'string' },
      search: { type: 'string' },
      type: { type: 'string' },
      index: { type: 'boolean', default: false },
      incognito: { type: 'boolean', default: false },
    },
  })
  const [verb, ...names] = positionals
  if (!['put', 'get', 'ls', 'rm'].includes(verb ?? '')) throw new Error(commandUsages.files)
  if (verb !== 'ls' && names.length === 0)
    throw new Error(`files ${verb} needs ${verb === 'put' ? 'a file' : 'the id of a file'}`)
  const type = fileTypes.find((type) => type === values.type)
  if (values.type !== undefined && type === undefined) throw new Error(`--type is one of ${fileTypes.join(', ')}`)
  const keyFile = keyFileOf(env, values.keys)
  const { kek, wrapped_rag_dek } = await readKeys(keyFile)
  const secrets = {
    kek,
    memory: memoryFileOf(keyFile),
    ...(wrapped_rag_dek !== null && { wrappedRagDek: wrapped_rag_dek }),
  }
  const files = connect({ ...clientOf(values, env), ...secrets }).files
  const { index, incognito, search, out } = values
  switch (verb) {
    case 'put':
      for (const name of names) await put(files, name, { index, incognito, ...(type && { type }) })
      return
    case 'get':
      return get(files, names[0]!, out)
    case 'rm':
      return remove(files, names)
    case 'ls':
      return list(files, { ...(search !== undefined && { search }), ...(type && { type }) })
  }
}

/** A sealed name may hold anything: control characters would begin rows and reach the terminal. */
const plain = (name: string, mark: string): string => name.replace(/[\u0000-\u001f\u007f-\u009f]/g, mark)

const put = async (files: Files, path: string, options: { index: boolean; incognito: boolean; type?: FileType }) => {
  const { size } = await stat(path)
  const mime = mimeOf(extname(path))
  const source: Source = { name: basename(path), mime, size, open: () => createReadStream(path) }
  const bar = progress(basename(path))
  const kept = await files
    .upload(source, { ...options, onProgress: bar.told })
    .catch(naming(source.name))
    .finally(bar.end)
  print(`${kept.id}\t${plain(kept.name, '?')}${kept.is_duplicate ? '\t(already there)' : ''}`)
  if (options.index && kept.rag_status === 'failed') throw new Error('The file could not be indexed')
}

/** Puts the file's name before the error, when several files are sent. */
const naming =
  (name: string) =>
  (error: unknown): never => {
    throw error instanceof SealgateError ? new Error(`${name}: ${errorText(error)}`, { cause: error }) : error
  }

/** A missing file is named plainly; other errors pass on. */
const absent = (error: unknown): never => {
  throw error instanceof SealgateError && error.status === 404
    ? new Error('There is no such file', { cause: error })
    : error
}

/** Removes all that are there, and then names the missing ones. */
const remove = async (files: Files, ids: readonly string[]) => {
  const missing: string[] = []
  for (const id of ids) if (!(await isThere(files.remove(id)))) missing.push(id)
  if (missing.length > 0) throw new Error(`There is no such file: ${missing.join(', ')}`)
}

/** The file gets its name only after every byte is verified. */
const get = async (files: Files, id: string, out: string | undefined) => {
  const bar = progress(id)
  const file = await files.download(id, { onProgress: bar.told }).catch(absent)
  // A sealed name may contain a path.
  const path = out ?? (plain(basename(file.name), '_') || id)
  // A name may be as long as the system takes, so the draft has a name of its own.
  const draft = join(dirname(path), `.${randomBytes(6).toString('hex')}.part`)
  try {
    if (out === undefined) await (await open(path, 'wx', 0o600)).close()
    await pipeline(Readable.from(file.content), createWriteStream(draft, { flags: 'wx', mode: 0o600 }))
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    if (out === undefined && (error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(path, { force: true })
    throw error
  } finally {
    bar.end()
  }
  print(path)
}

/** Pages of 100, so that a long list begins to print at once. */
const list = async (shelf: Files, wanted: { search?: string; type?: FileType }) => {
  for (let offset = 0; ;) {
    const { files, locked, total } = await shelf.list({ ...wanted, limit: 100, offset })
    const line = ({ id, created_at, file_size, rag_status, rag_error = null }: FileRecord, name: string): void =>
      print(
        [id, created_at, file_size, rag_error === null ? rag_status : `${rag_status}: ${rag_error}`, name].join('\t'),
      )
    for (const file of files) line(file, plain(file.name, '?'))
    for (const file of locked) line(file, '(locked: not under this key)')
    const seen = files.length + locked.length
    offset += seen
    if (seen === 0 || offset >= total) return
  }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)
