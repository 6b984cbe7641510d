import { write, writeSync } from 'node:fs'

/** In bytes: a pipe takes one write of this size whole, even with other writers. */
const whole = 4096
/** In bytes: the limit of waiting lines. Further lines are lost. */
const mostWaitingBytes = 16 * 1024 * 1024
/** In ms: how long a line waits for more lines, and the pause after a failed write. */
const pauseMs = 250
/** At the exit: the number of tries for a slow reader, and in ms the pause between tries. */
const tries = 50
const moment = 20

export interface FileWriter {
  readonly write: typeof write
  readonly writeSync: typeof writeSync
}

export interface WrittenLines {
  write(line: string): void
  flushSync(): void
  /** Resolves when the lines are out, with those of a write that is under way. */
  close(): Promise<void>
}

const busy = ({ code }: NodeJS.ErrnoException): boolean => code === 'EAGAIN' || code === 'EBUSY'

/** Waiting lines, joined into chunks. */
const lineQueue = () => {
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

/**
 * Collects lines and writes them together, after at most a quarter of a second and at the exit. A full disk stops no
 * request: lines wait for space, and a later line counts the lost ones.
 */
export const bufferedLines = (fd: number, door: FileWriter = { write, writeSync }): WrittenLines => {
  const queue = lineQueue()
  let lost = 0
  let writing = false
  let failing = false
  let gone = false
  let timer: NodeJS.Timeout | null = null
  let watched = false
  /** Called at the end of the write that is under way. */
  let rested: (() => void) | null = null

  const watch = (on: boolean): void => {
    if (on !== watched) process[on ? 'once' : 'off']('exit', flushSync)
    watched = on
  }

  const leave = (): void => {
    gone = true
    queue.clear()
    watch(false)
  }

  const go = (): void => {
    if (queue.bytes() >= whole / 2) put()
    else if (queue.bytes() > 0)
      timer ??= setTimeout(() => {
        timer = null
        put()
      }, pauseMs).unref()
    else watch(false)
  }

  const put = (): void => {
    if (writing || gone) return
    const chunk = queue.next()
    if (chunk === null) return
    writing = true
    door.write(fd, chunk, (fault, written) => {
      writing = false
      failing = fault !== null
      // The reader of the pipe has left.
      if (fault?.code === 'EPIPE') leave()
      else queue.keep(chunk, fault === null ? written : 0)
      if (rested !== null) return rested()
      if (gone) return
      if (fault === null) go()
      else setTimeout(put, busy(fault) ? moment : pauseMs).unref()
    })
  }

  const flushSync = (): void => {
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

  return {
    write(line) {
      if (gone) return
      const size = Buffer.byteLength(line)
      const about = lost === 0 ? '' : `${JSON.stringify(lostOf(lost))}\n`
      if (queue.bytes() + about.length + size > mostWaitingBytes) return void lost++
      if (lost > 0) queue.add(about, about.length)
      lost = 0
      queue.add(line, size)
      watch(true)
      if (!failing) go()
    },
    flushSync,
    async close() {
      // A slow reader holds a write back no longer than it holds the exit.
      if (writing)
        await new Promise<void>((resolve) => {
          const late = setTimeout(resolve, tries * moment)
          rested = () => {
            clearTimeout(late)
            resolve()
          }
        })
      rested = null
      flushSync()
    },
  }
}

const lostOf = (lines: number) => ({ level: 'warn', time: Date.now(), pid: process.pid, lines, event: 'log.lost' })
