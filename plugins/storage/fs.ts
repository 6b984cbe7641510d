import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import * as v from 'valibot'
import { BadRequest, Unavailable } from '../../core/errors.ts'
import { flushFolder, makeFolder } from './shared/fsync.ts'
import { plugin } from '../../core/plugin.ts'
import { BlobStore } from '../../core/ports/blob-store.ts'
import { unlessAborted } from '../../core/abort.ts'

/** Ms after which a draft that nobody wrote to is of a dead process: a body that stands for so long was cut long ago. */
const draftAge = 15 * 60 * 1000
/** In bytes: the most that one read of the disk gives. */
const piece = 256 * 1024
/** The folder of unfinished files. No path leads into it, and no listing shows it. */
const hidden = '.drafts'
/** One name of a path. The names `.` and `..` are refused, so that no path leaves the folder. */
const segment = /^(?!\.\.?$)[\w.-]+$/
/** The codes of a disk without the file; a folder of that name is no file either. */
const absent = ['ENOENT', 'ENOTDIR', 'EISDIR']

/** Hides the text of disk errors. Errors of the source and of the signal pass unchanged. */
const onDisk = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENAMETOOLONG') throw new BadRequest('Invalid path', { cause })
    throw new Unavailable(undefined, { cause })
  }
}

/** Null when the file does not exist. */
const unlessAbsent = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work
  } catch (fault) {
    if (absent.includes((fault as NodeJS.ErrnoException).code ?? '')) return null
    throw fault
  }
}

/** In bytes: chunks are collected into writes of this size. Larger writes are slower. */
const block = 64 * 1024

/** Fills one block while the other is written. Chunks are copied, since their source may reuse the buffer. */
const write = async (file: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number> => {
  const handle = await onDisk(open(file, 'wx', 0o600))
  const source = bytes[Symbol.asyncIterator]()
  let [filling, spare] = [Buffer.allocUnsafeSlow(block), Buffer.allocUnsafeSlow(block)]
  let [filled, size] = [0, 0]
  let ended = false
  let writing: Promise<void> = Promise.resolve()

  const turn = async () => {
    await unlessAborted(writing, signal)
    writing = onDisk(whole(handle, filling.subarray(0, filled)))
    // The later `await` of the same promise reports the failure.
    writing.catch(() => {})
    ;[filling, spare] = [spare, filling]
    filled = 0
  }

  try {
    for (;;) {
      const step = await unlessAborted(source.next(), signal)
      if ((ended = step.done === true)) break
      size += step.value.length
      for (let rest = step.value; rest.length > 0;) {
        const room = Math.min(rest.length, block - filled)
        filling.set(rest.subarray(0, room), filled)
        filled += room
        rest = rest.subarray(room)
        if (filled === block) await turn()
      }
    }
    await turn()
    await writing
    await onDisk(handle.sync())
    return size
  } finally {
    // The call is not awaited: a stuck source would never answer.
    if (!ended) source.return?.().catch(() => {})
    await writing.catch(() => {})
    await handle.close()
  }
}

/** Writes all bytes, since the kernel may take fewer at once. */
const whole = async (handle: FileHandle, bytes: Uint8Array): Promise<void> => {
  for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten
}

/** Opens the file at the first read, so that an unread stream holds no file. */
const read = async function* (file: string, size: number, start: number, end: number, signal?: AbortSignal) {
  signal?.throwIfAborted()
  const handle = await onDisk(open(file))
  try {
    // The caller already has the size: bytes of another file would not fit its answer.
    if ((await onDisk(handle.stat())).size !== size) throw new Unavailable('The file was replaced while it was read')
    for (let at = start; at < end;) {
      signal?.throwIfAborted()
      const room = Buffer.allocUnsafeSlow(Math.min(piece, end - at))
      const { bytesRead } = await onDisk(handle.read(room, 0, room.length, at))
      if (bytesRead === 0) throw new Unavailable('The file ended early')
      at += bytesRead
      yield room.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

/** Reads one folder at a time. A folder sorts as its name with a slash, which gives the order of whole paths. */
const walk = async function* (root: string, under: string, prefix: string): AsyncGenerator<string> {
  const entries = (await onDisk(unlessAbsent(readdir(join(root, under), { withFileTypes: true })))) ?? []
  const paths = entries
    .filter(
      (found) => segment.test(found.name) && (found.isFile() || found.isDirectory()) && under + found.name !== hidden,
    )
    .map((found) => under + found.name + (found.isDirectory() ? '/' : ''))
    .sort()
  for (const path of paths) {
    if (!path.endsWith('/')) {
      if (path.startsWith(prefix)) yield path
    } else if (path.startsWith(prefix) || prefix.startsWith(path)) yield* walk(root, path, prefix)
  }
}

/** Files under one folder. A file gets its name only after all its bytes are on the disk. */
export default plugin({
  port: BlobStore,
  name: 'fs',
  settings: v.strictObject({ folder: v.pipe(v.string(), v.minLength(1)) }),
  create: (_, { folder }): BlobStore => {
    const root = resolve(folder)
    const drafts = join(root, hidden)
    /** Folders in the making, so that two uploads make each folder once. */
    const making = new Map<string, Promise<void>>()
    /** When the drafts are looked at next. */
    let sweepAt = 0
    try {
      makeFolder(drafts)
    } catch (cause) {
      throw new Error(`fs: the folder cannot be made (${(cause as NodeJS.ErrnoException).code})`, { cause })
    }

    const at = (path: string): string => {
      const segments = path.split('/')
      if (segments[0] === hidden || !segments.every((part) => segment.test(part))) throw new BadRequest('Invalid path')
      return join(root, ...segments)
    }

    /** Resolves when the folder and its parents are on the disk, also when another call makes them. */
    const ready = (folder: string): Promise<void> => {
      if (folder === root) return Promise.resolve()
      let made = making.get(folder)
      if (!made) making.set(folder, (made = make(folder).finally(() => making.delete(folder))))
      return made
    }

    const make = async (folder: string) => {
      await ready(dirname(folder))
      try {
        await mkdir(folder, 0o700)
      } catch (fault) {
        if ((fault as NodeJS.ErrnoException).code === 'EEXIST') return
        throw fault
      }
      await flushFolder(dirname(folder))
    }

    /** Removes the drafts of dead processes, now and then. A draft that cannot be removed stops nobody. */
    const sweep = async () => {
      if (Date.now() < sweepAt) return
      sweepAt = Date.now() + draftAge
      for (const name of await readdir(drafts).catch(() => [])) {
        const file = join(drafts, name)
        const found = await stat(file).catch(() => null)
        if (found && found.mtimeMs < Date.now() - draftAge) await rm(file, { force: true }).catch(() => {})
      }
    }

    return {
      async put(path, bytes, signal = new AbortController().signal) {
        const file = at(path)
        const draft = join(drafts, randomUUID())
        signal.throwIfAborted()
        await sweep()
        try {
          const size = await write(draft, bytes, signal)
          await onDisk(ready(dirname(file)))
          signal.throwIfAborted()
          await onDisk(rename(draft, file))
          await onDisk(flushFolder(dirname(file)))
          return { size }
        } catch (fault) {
          // The first failure is thrown. A later sweep removes a draft that cannot be removed now.
          await rm(draft, { force: true }).catch(() => {})
          throw fault
        }
      },
      async get(path, range, signal) {
        const file = at(path)
        const found = await onDisk(unlessAbsent(stat(file)))
        if (!found?.isFile()) return null
        const end = Math.min(found.size, (range?.end ?? Infinity) + 1)
        return { size: found.size, bytes: read(file, found.size, range?.start ?? 0, end, signal) }
      },
      /** A file that does not exist counts as removed. */
      async remove(path) {
        const file = at(path)
        const gone = await onDisk(unlessAbsent(unlink(file).then(() => true)))
        if (gone) await onDisk(flushFolder(dirname(file)))
      },
      async *list(prefix) {
        await sweep()
        yield* walk(root, '', prefix)
      },
    }
  },
})
