import { fstatSync, write, writeSync } from 'node:fs'

/** In bytes: a pipe takes one write of this size whole, even with other writers. */
const pipe = 4096
/** In bytes: a file and a device take any. */
const filed = 64 * 1024
/** In bytes: the limit of waiting lines. Further lines are lost. */
const mostWaitingBytes = 16 * 1024 * 1024
/** In ms: how long a line waits for more lines, and the pause after a failed write. */
const pauseMs = 250
/** At the exit: the number of tries for a slow reader, and in ms the pause between tries. */
const tries = 50
const moment = 20

/** The two writes of `node:fs`, as a port: tests bring a disk that is full or slow. */
export interface FileWriter {
  readonly write: typeof write
  readonly writeSync: typeof writeSync
}

/** Lines of a log on their way to a descriptor. */
export interface WrittenLines {
  /** The line brings its own end. A line without room is lost and counted; a closed reader loses all. */
  write(line: string): void
  /** Blocks until the lines are out, or until a slow reader has had its tries. */
  flushSync(): void
  /** Resolves when the lines are out, with those of a write that is under way. */
  close(): Promise<void>
}

/** True for a pipe with a slow reader; a reader that has left gives `EPIPE`. */
const busy = ({ code }: NodeJS.ErrnoException): boolean => code === 'EAGAIN' || code === 'EBUSY'

/** Waiting lines, joined into chunks. */
const lineQueue = (whole: number) => {
  const waiting: { text: string; size: number }[] = []
  /** Chunks that are unwritten or partly written. */
  const rests: Buffer[] = []
  let bytes = 0
  return {
    bytes: (): number => bytes,
    add(text: string, size: number): void {
      const last = waiting.at(-1)
      if (last !== undefined && last.size + size <= whole) {
        last.text += text
        last.size += size
      } else waiting.push({ text, size })
      bytes += size
    },
    next(): Buffer | null {
      const rest = rests.shift()
      if (rest !== undefined) return rest
      const first = waiting.shift()
      return first === undefined ? null : Buffer.from(first.text)
    },
    /** Puts the unwritten part of a chunk back. */
    keep(chunk: Buffer, written: number): void {
      bytes -= written
      if (written < chunk.length) rests.unshift(chunk.subarray(written))
    },
    clear(): void {
      waiting.length = rests.length = 0
    },
  }
}

/** The state of one log. */
interface Writing {
  readonly fd: number
  readonly whole: number
  readonly door: FileWriter
  readonly queue: ReturnType<typeof lineQueue>
  /** Lines that found no room since the last line with room. */
  lost: number
  writing: boolean
  failing: boolean
  gone: boolean
  timer: NodeJS.Timeout | null
  watched: boolean
  /** Called at the end of the write that is under way. */
  rested: (() => void) | null
  /** Called at the exit. */
  readonly flushSync: () => void
}

/** A descriptor that tells nothing is taken for a pipe. */
const isPipe = (fd: number): boolean => {
  try {
    const found = fstatSync(fd)
    return found.isFIFO() || found.isSocket()
  } catch {
    return true
  }
}

/**
 * Collects lines and writes them together, after at most a quarter of a second and at the exit. A full disk stops no
 * request: lines wait for space, and a later line counts the lost ones.
 */
export const bufferedLines = (fd: number, door: FileWriter = { write, writeSync }): WrittenLines => {
  const whole = isPipe(fd) ? pipe : filed
  const writing: Writing = {
    ...{ fd, door, whole, queue: lineQueue(whole), lost: 0, writing: false, failing: false, gone: false },
    ...{ timer: null, watched: false, rested: null, flushSync: () => writeAtOnce(writing) },
  }
  return {
    write: (line) => add(writing, line),
    flushSync: writing.flushSync,
    async close() {
      if (writing.writing) await rest(writing)
      writing.rested = null
      writing.flushSync()
    },
  }
}

/** The count of lost lines goes out before the next line that finds room. */
const add = (writing: Writing, line: string): void => {
  if (writing.gone) return
  const { queue } = writing
  const size = Buffer.byteLength(line)
  const about = writing.lost === 0 ? '' : `${JSON.stringify(lostOf(writing.lost))}\n`
  if (queue.bytes() + about.length + size > mostWaitingBytes) return void writing.lost++
  if (writing.lost > 0) queue.add(about, about.length)
  writing.lost = 0
  queue.add(line, size)
  watch(writing, true)
  if (!writing.failing) go(writing)
}

const watch = (writing: Writing, on: boolean): void => {
  if (on !== writing.watched) process[on ? 'once' : 'off']('exit', writing.flushSync)
  writing.watched = on
}

/** Nobody reads any more, so the exit has nothing to write. */
const leave = (writing: Writing): void => {
  writing.gone = true
  writing.queue.clear()
  watch(writing, false)
}

const go = (writing: Writing): void => {
  // Each write wakes a thread, so a chunk is filled before it goes.
  if (writing.queue.bytes() >= writing.whole) put(writing)
  else if (writing.queue.bytes() > 0)
    writing.timer ??= setTimeout(() => {
      writing.timer = null
      put(writing)
    }, pauseMs).unref()
  else watch(writing, false)
}

/** One write at a time: two would mix their bytes after a partial write. */
const put = (writing: Writing): void => {
  const { fd, door, queue } = writing
  if (writing.writing || writing.gone) return
  const chunk = queue.next()
  if (chunk === null) return
  writing.writing = true
  door.write(fd, chunk, (fault, written) => {
    writing.writing = false
    writing.failing = fault !== null
    // The reader of the pipe has left.
    if (fault?.code === 'EPIPE') leave(writing)
    else queue.keep(chunk, fault === null ? written : 0)
    if (writing.rested !== null) return writing.rested()
    if (writing.gone) return
    if (fault === null) go(writing)
    else setTimeout(() => put(writing), busy(fault) ? moment : pauseMs).unref()
  })
}

/** Timers no longer run at the exit, so a pause there blocks the thread. */
const writeAtOnce = ({ fd, door, queue }: Writing): void => {
  let left = tries
  for (let chunk = queue.next(); chunk !== null; chunk = queue.next()) {
    try {
      queue.keep(chunk, door.writeSync(fd, chunk))
    } catch (fault) {
      queue.keep(chunk, 0)
      if (!busy(fault as NodeJS.ErrnoException) || left-- === 0) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, moment)
    }
  }
}

/** Waits for the write that is under way. A slow reader holds a write back no longer than it holds the exit. */
const rest = (writing: Writing): Promise<void> =>
  new Promise((resolve) => {
    const late = setTimeout(resolve, tries * moment)
    writing.rested = () => {
      clearTimeout(late)
      resolve()
    }
  })

const lostOf = (lines: number) => ({ level: 'warn', time: Date.now(), pid: process.pid, lines, event: 'log.lost' })
