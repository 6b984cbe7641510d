import { textOf, utf8, fromHex, toHex } from '../wire/bytes.ts'
import { freshNonce, openWith, sealWith } from '../wire/seal.ts'
import { SealgateError } from './error.ts'
import type { Keys } from './keys.ts'

/** The store of a client's memory. The text is sealed. */
export interface MemoryStore {
  /** Null when nothing was saved yet. */
  load(): Promise<string | null>
  save(text: string): Promise<void>
}

/** A record that the gateway sent and that holds. */
export interface SeenRecord {
  readonly id: string
  /** The revision of the file's binding; 0 when the file is not bound. */
  readonly revision: number
}

/** The opened memory of one KEK. */
interface Known {
  readonly files: Map<string, number>
  readonly removed: Set<string>
}

/** The latest known state of each file under one KEK. */
export interface FileMemory {
  /** Returns the ids of removed files and of files older than remembered. Remembers the other files. */
  meet(seen: readonly SeenRecord[]): Promise<ReadonlySet<string>>
  /** The highest revision seen of a file; 0 for an unknown file. */
  revisionOf(id: string): Promise<number>
  /** Remembers the file as removed, so that a gateway cannot bring it back. */
  forget(id: string): Promise<void>
  /** Copies the ids of removed files from another memory. */
  inherit(other: FileMemory): Promise<void>
  /** The ids of all removed files. */
  removed(): Promise<readonly string[]>
}

const magic = 'sealgate-memory/1'
/** In bytes: a longer memory counts as damaged. */
const mostHex = 256 * 1024 * 1024

/** Without a store, no state is remembered and no file counts as older. */
const forgetful: FileMemory = {
  meet: async () => new Set(),
  revisionOf: async () => 0,
  forget: async () => undefined,
  inherit: async () => undefined,
  removed: async () => [],
}

/** Throws `no_memory` when the text is not a memory or was changed. */
const textsOf = (text: string | null): Record<string, string> => {
  if (text === null) return {}
  try {
    const { memory, kids } = JSON.parse(text) as { memory?: unknown; kids?: Record<string, string> }
    if (memory === magic && typeof kids === 'object' && kids !== null) return { ...kids }
  } catch {
    // Text that is not JSON is refused as well.
  }
  throw new SealgateError('no_memory')
}

/** The stored text with the sealed parts of all KEKs, and this KEK's part opened. Throws when the part does not open. */
const sealedMemory = (store: MemoryStore, keys: Keys) => {
  const read = async (): Promise<{ readonly all: Record<string, string>; readonly known: Known }> => {
    const all = textsOf(await store.load())
    const hex = Object.hasOwn(all, keys.kid) ? all[keys.kid] : undefined
    if (hex === undefined) return { all, known: { files: new Map(), removed: new Set() } }
    const sealed = typeof hex === 'string' ? fromHex(hex, mostHex) : null
    const plain = sealed && openWith(keys.memoryKey(), sealed, utf8(magic))
    if (!plain) throw new SealgateError('no_memory')
    const memory = JSON.parse(textOf(plain)) as { files: Record<string, number>; removed: string[] }
    return { all, known: { files: new Map(Object.entries(memory.files)), removed: new Set(memory.removed) } }
  }

  const write = async (all: Record<string, string>, { files, removed }: Known): Promise<void> => {
    const text = JSON.stringify({ files: Object.fromEntries(files), removed: [...removed] })
    const sealed = sealWith(keys.memoryKey(), freshNonce(), utf8(text), utf8(magic))
    await store.save(JSON.stringify({ memory: magic, kids: { ...all, [keys.kid]: toHex(sealed) } }))
  }

  return { read, write }
}

/** Each change reads the store first, so that it keeps what another client with this store wrote. */
export const memoryOf = (store: MemoryStore | undefined, keys: Keys): FileMemory => {
  if (store === undefined) return forgetful
  const { read, write } = sealedMemory(store, keys)
  let turn: Promise<unknown> = Promise.resolve()

  /** Runs changes one after the other, so that no change overtakes another. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work)
    turn = done.catch(() => undefined)
    return done
  }

  return {
    meet: (seen) =>
      inTurn(async () => {
        const { all, known } = await read()
        const old = new Set<string>()
        let changed = false
        for (const { id, revision } of seen) {
          const before = known.files.get(id) ?? 0
          if (known.removed.has(id) || revision < before) old.add(id)
          else if (revision > before) {
            known.files.set(id, revision)
            changed = true
          }
        }
        if (changed) await write(all, known)
        return old
      }),

    revisionOf: (id) => inTurn(async () => (await read()).known.files.get(id) ?? 0),

    forget: (id) =>
      inTurn(async () => {
        const { all, known } = await read()
        known.files.delete(id)
        known.removed.add(id)
        await write(all, known)
      }),

    async inherit(other) {
      const gone = await other.removed()
      await inTurn(async () => {
        const { all, known } = await read()
        for (const id of gone) known.removed.add(id)
        if (gone.length > 0) await write(all, known)
      })
    },

    removed: () => inTurn(async () => [...(await read()).known.removed]),
  }
}
