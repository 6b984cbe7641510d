/** In bytes: the largest file that a program may write. */
const mostFileBytes = 64 * 1024 * 1024

/** Error numbers of WASI, preview 1. */
const success = 0
const badFile = 8
const missing = 44
const full = 51

/** The descriptors of the program's folder and of the only file that it can make. */
const folder = 3
const file = 4
/** The flag of `path_open` that makes a missing file. */
const makes = 1

/** The type of each descriptor, in WASI's numbers. */
const kinds: Readonly<Record<number, number>> = { [folder]: 3, [file]: 4 }
const terminal = 2

/** A program that runs, and the only file that it can make. */
interface Running {
  /** Its arguments, each with a zero byte at its end. */
  readonly words: readonly Uint8Array[]
  readonly made: ReturnType<typeof growing>
  /** Null before the program has begun. */
  memory: WebAssembly.Memory | null
}

const bufferOf = ({ memory }: Running): ArrayBuffer => {
  if (memory === null) throw new Error('The program has no memory')
  return memory.buffer
}
const viewOf = (running: Running) => new DataView(bufferOf(running))
const put = (running: Running, at: number, value: number) => viewOf(running).setUint32(at, value, true)

/** The parts of a list in memory: each entry is an address and a length, of four bytes each. */
const piecesOf = function* (running: Running, at: number, count: number) {
  for (let end = at + 8 * count; at < end; at += 8) {
    const view = viewOf(running)
    yield new Uint8Array(bufferOf(running), view.getUint32(at, true), view.getUint32(at + 4, true))
  }
}

/** What the program may call besides its file: its arguments, a clock that stands still, and its end. */
const aroundOf = (running: Running) => ({
  args_sizes_get(count: number, size: number) {
    put(running, count, running.words.length)
    put(
      running,
      size,
      running.words.reduce((sum, word) => sum + word.length, 0),
    )
    return success
  },
  args_get(places: number, texts: number) {
    for (const word of running.words) {
      put(running, places, texts)
      new Uint8Array(bufferOf(running)).set(word, texts)
      places += 4
      texts += word.length
    }
    return success
  },
  clock_time_get(_clock: number, _precision: bigint, at: number) {
    viewOf(running).setBigUint64(at, 0n, true)
    return success
  },
  proc_exit(code: number) {
    throw code === 0 ? ended : new Error('The program failed')
  },
})

/** What the program may call for its folder and its file. */
const filesOf = (running: Running) => ({
  fd_close: () => success,
  fd_fdstat_get(place: number, at: number) {
    const view = viewOf(running)
    view.setUint32(at, kinds[place] ?? terminal, true)
    view.setBigUint64(at + 8, ~0n, true)
    view.setBigUint64(at + 16, ~0n, true)
    return success
  },
  fd_fdstat_set_flags: () => success,
  fd_prestat_get(place: number, at: number) {
    if (place !== folder) return badFile
    put(running, at, 0)
    put(running, at + 4, 1)
    return success
  },
  fd_prestat_dir_name(_place: number, at: number) {
    viewOf(running).setUint8(at, '/'.charCodeAt(0))
    return success
  },
  fd_read(_place: number, _pieces: number, _count: number, at: number) {
    put(running, at, 0)
    return success
  },
  fd_seek(place: number, offset: bigint, from: number, at: number) {
    if (place !== file) return badFile
    viewOf(running).setBigUint64(at, BigInt(running.made.seek(Number(offset), from)), true)
    return success
  },
  fd_write(place: number, at: number, count: number, written: number) {
    let length = 0
    for (const piece of piecesOf(running, at, count)) {
      if (place === file && !running.made.write(piece)) return full
      length += piece.length
    }
    put(running, written, length)
    return success
  },
  path_open(
    ...[, , , , how, , , , at]: readonly [number, number, number, number, number, bigint, bigint, number, number]
  ) {
    if ((how & makes) === 0) return missing
    put(running, at, file)
    return success
  },
})

/**
 * Runs a WASI program and returns the file that it makes. The program has no disk, environment, clock or randomness,
 * and its output is dropped. Throws when its exit code is not 0 or the file is too large.
 */
export const runProgram = (program: WebAssembly.Module, given: readonly string[]): Uint8Array => {
  const encoder = new TextEncoder()
  const running: Running = { words: given.map((word) => encoder.encode(`${word}\0`)), made: growing(), memory: null }
  const room = { ...aroundOf(running), ...filesOf(running) }
  const { exports } = new WebAssembly.Instance(program, { wasi_snapshot_preview1: room })
  running.memory = exports['memory'] as WebAssembly.Memory
  try {
    ;(exports['_start'] as () => void)()
  } catch (error) {
    if (error !== ended) throw error
  }
  return running.made.bytes()
}

/** Thrown at a normal end, since the program expects that `proc_exit` never returns. */
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
