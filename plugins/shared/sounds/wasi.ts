/** In bytes: the largest file that a program may write. */
const mostFileBytes = 64 * 1024 * 1024

const success = 0
const badFile = 8
const missing = 44
const full = 51

/** The descriptors of the program's folder and of the only file that it can make. */
const folder = 3
const file = 4
const makes = 1

/** The type of each descriptor, in WASI's numbers. */
const kinds: Readonly<Record<number, number>> = { [folder]: 3, [file]: 4 }
const terminal = 2

/**
 * Runs a WASI program and returns the file that it makes. The program has no disk, environment, clock or randomness,
 * and its output is dropped. Throws when its exit code is not 0 or the file is too large.
 */
export const runProgram = (program: WebAssembly.Module, given: readonly string[]): Uint8Array => {
  const encoder = new TextEncoder()
  const words = given.map((word) => encoder.encode(`${word}\0`))
  const made = growing()

  const view = () => new DataView(memory.buffer)
  const put = (at: number, value: number) => view().setUint32(at, value, true)
  const pieces = function* (at: number, count: number) {
    for (let end = at + 8 * count; at < end; at += 8) {
      yield new Uint8Array(memory.buffer, view().getUint32(at, true), view().getUint32(at + 4, true))
    }
  }

  const room = {
    args_sizes_get(count: number, size: number) {
      put(count, words.length)
      put(
        size,
        words.reduce((sum, word) => sum + word.length, 0),
      )
      return success
    },
    args_get(places: number, texts: number) {
      for (const word of words) {
        put(places, texts)
        new Uint8Array(memory.buffer).set(word, texts)
        places += 4
        texts += word.length
      }
      return success
    },
    clock_time_get(_clock: number, _precision: bigint, at: number) {
      view().setBigUint64(at, 0n, true)
      return success
    },
    fd_close: () => success,
    fd_fdstat_get(place: number, at: number) {
      const it = view()
      it.setUint32(at, kinds[place] ?? terminal, true)
      it.setBigUint64(at + 8, ~0n, true)
      it.setBigUint64(at + 16, ~0n, true)
      return success
    },
    fd_fdstat_set_flags: () => success,
    fd_prestat_get(place: number, at: number) {
      if (place !== folder) return badFile
      put(at, 0)
      put(at + 4, 1)
      return success
    },
    fd_prestat_dir_name(_place: number, at: number) {
      view().setUint8(at, '/'.charCodeAt(0))
      return success
    },
    fd_read(_place: number, _pieces: number, _count: number, at: number) {
      put(at, 0)
      return success
    },
    fd_seek(place: number, offset: bigint, from: number, at: number) {
      if (place !== file) return badFile
      view().setBigUint64(at, BigInt(made.seek(Number(offset), from)), true)
      return success
    },
    fd_write(place: number, at: number, count: number, written: number) {
      let length = 0
      for (const piece of pieces(at, count)) {
        if (place === file && !made.write(piece)) return full
        length += piece.length
      }
      put(written, length)
      return success
    },
    path_open(
      ...[, , , , how, , , , at]: readonly [number, number, number, number, number, bigint, bigint, number, number]
    ) {
      if ((how & makes) === 0) return missing
      put(at, file)
      return success
    },
    proc_exit(code: number) {
      throw code === 0 ? ended : new Error('The program failed')
    },
  }

  const { exports } = new WebAssembly.Instance(program, { wasi_snapshot_preview1: room })
  const memory = exports['memory'] as WebAssembly.Memory
  try {
    ;(exports['_start'] as () => void)()
  } catch (error) {
    if (error !== ended) throw error
  }
  return made.bytes()
}

const ended = new Error('The program ended')

/** A file in memory. */
const growing = () => {
  let bytes = new Uint8Array(65_536)
  let size = 0
  let at = 0
  return {
    bytes: () => bytes.slice(0, size),
    seek(offset: number, from: number) {
      const start = [0, at, size][from] ?? 0
      return (at = Math.max(0, start + offset))
    },
    write(piece: Uint8Array) {
      const end = at + piece.length
      if (end > mostFileBytes) return false
      if (end > bytes.length) {
        const larger = new Uint8Array(Math.min(mostFileBytes, 2 * end))
        larger.set(bytes)
        bytes = larger
      }
      bytes.set(piece, at)
      at = end
      size = Math.max(size, end)
      return true
    },
  }
}
