import { write, writeSync } from 'node:fs'

/** What one write of a process puts into a pipe whole, whoever else writes there. */
const whole = 4096
/** Bytes that wait for room; lines beyond them are lost. */
const most = 16 * 1024 * 1024
/** Ms that a line waits for others, and that a file which takes nothing is left in peace. */
const pause = 250
/** How often a reader that is not quick enough is waited for at the exit, and how many ms each time. */
const tries = 50
const moment = 20

export interface Door {
  readonly write: typeof write
  readonly writeSync: typeof writeSync
}

export interface WrittenLines {
  write(line: string): void
  flushSync(): void
}

const busy = ({ code }: NodeJS.ErrnoException): boolean => code === 'EAGAIN' || code === 'EBUSY'

/**
 * Lines are gathered and written together, at the latest after a quarter of a second and at the exit. A full disk stops
 * nobody: what fits waits until there is room, and how many lines were lost is said then.
 */
export const writtenLines = (fd: number, door: Door = { write, writeSync }): WrittenLines => {
  const waiting: { text: string; size: number }[] = []
  let bytes = 0
  let lost = 0
  /** What could not be written, or not to its end. */
  const rests: Buffer[] = []
  let writing = false
  let failing = false
  let gone = false
  let timer: NodeJS.Timeout | null = null
  let watched = false

  const watch = (on: boolean): void => {
    if (on !== watched) process[on ? 'once' : 'off']('exit', flushSync)
    watched = on
  }

  const add = (text: string, size: number): void => {
    const last = waiting.at(-1)
    if (last !== undefined && last.size + size <= whole) {
      last.text += text
      last.size += size
    } else waiting.push({ text, size })
    bytes += size
  }

  const next = (): Buffer | null => {
    const rest = rests.shift()
    if (rest !== undefined) return rest
    const first = waiting.shift()
    return first === undefined ? null : Buffer.from(first.text)
  }

  const keep = (chunk: Buffer, written: number): void => {
    bytes -= written
    if (written < chunk.length) rests.unshift(chunk.subarray(written))
  }

  const leave = (): void => {
    gone = true
    waiting.length = rests.length = 0
    watch(false)
  }

  const go = (): void => {
    if (bytes >= whole / 2) put()
    else if (bytes > 0)
      timer ??= setTimeout(() => {
        timer = null
        put()
      }, pause).unref()
    else watch(false)
  }

  const put = (): void => {
    if (writing || gone) return
    const chunk = next()
    if (chunk === null) return
    writing = true
    door.write(fd, chunk, (fault, written) => {
      writing = false
      failing = fault !== null
      // Whoever read it has left.
      if (fault?.code === 'EPIPE') return leave()
      keep(chunk, fault === null ? written : 0)
      if (fault === null) go()
      else setTimeout(put, busy(fault) ? moment : pause).unref()
    })
  }

  const flushSync = (): void => {
    let left = tries
    for (let chunk = next(); chunk !== null; chunk = next()) {
      try {
        keep(chunk, door.writeSync(fd, chunk))
      } catch (fault) {
        keep(chunk, 0)
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
      if (bytes + about.length + size > most) return void lost++
      if (lost > 0) add(about, about.length)
      lost = 0
      add(line, size)
      watch(true)
      if (!failing) go()
    },
    flushSync,
  }
}

const lostOf = (lines: number) => ({ level: 'warn', time: Date.now(), pid: process.pid, lines, event: 'log.lost' })
