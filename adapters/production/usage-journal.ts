import { hash, randomUUID } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { makeFolder } from '../../plugins/storage/shared/fsync.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock } from '../../core/ports/platform.ts'
import { type Journal, UsageJournal } from '../../plugins/usage/usage-journal.ts'

/** Ms without a sign of life after which a process elsewhere counts as gone. */
const silenceMs = 60_000

/** Place, process number and a random part: a name tells whether its writer can still live. */
const names = /^([\da-f]{16})-(\d+)-[\da-f-]{36}\.journal$/

/** Where the numbers of processes mean the same: this machine since its start, and in it this container. */
const placeOfProcess = (): string => {
  const read = (work: () => string): string => {
    try {
      return work()
    } catch {
      // Other systems have no such file; their name and start must do.
      return ''
    }
  }
  const boot = read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
  const space = read(() => readlinkSync('/proc/self/ns/pid'))
  return hash('sha256', `${hostname()}\n${boot}\n${space}`, 'hex').slice(0, 16)
}

/** Signal 0 asks without effect. A process of another user refuses the signal, and so counts as alive. */
const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** The lines are on their way, and the descriptor is gone, whatever the system answers. */
const close = (descriptor: number): void => {
  try {
    closeSync(descriptor)
  } catch {
    // Nothing is left to do.
  }
}

/** Removes a half-written file, which nobody reads. */
const drop = (file: string): void => {
  try {
    rmSync(file, { force: true })
  } catch {
    // It takes room and nothing else.
  }
}

/** Files of lines in a folder that processes share, one for each process. */
export default plugin({
  port: UsageJournal,
  name: 'usage-journal',
  settings: v.strictObject({ folder: v.pipe(v.string(), v.minLength(1)) }),
  needs: { clock: Clock },
  create: ({ clock }, { folder }): UsageJournal => {
    const place = placeOfProcess()
    const own = new Set<string>()

    const freshName = (): string => {
      const name = `${place}-${process.pid}-${randomUUID()}.journal`
      own.add(name)
      return name
    }

    const journalAt = (name: string): Journal => {
      const file = join(folder, name)
      const next = `${file}.next`
      let descriptor = openSync(file, 'a', 0o600)
      let known = fstatSync(descriptor).ino
      return {
        append(lines) {
          // A disk that fills up takes a part, without an error.
          if (writeSync(descriptor, lines) < Buffer.byteLength(lines)) throw new Error('A line has no room')
        },
        replace(lines) {
          const written = openSync(next, 'w', 0o600)
          let found: number
          try {
            writeFileSync(written, lines.map((line) => `${line}\n`).join(''))
            found = fstatSync(written).ino
            renameSync(next, file)
          } catch (cause) {
            close(written)
            throw cause
          }
          close(descriptor)
          descriptor = written
          known = found
        },
        beat() {
          if (statSync(file, { throwIfNoEntry: false })?.ino !== known) return false
          const now = clock.now() / 1000
          utimesSync(file, now, now)
          return true
        },
        remove() {
          drop(next)
          try {
            rmSync(file, { force: true })
          } catch {
            // A folder that lets nothing go may still take the lines out of the file.
            truncateSync(file)
          }
          close(descriptor)
          own.delete(name)
        },
      }
    }

    // A dead process of this machine is known at once; one elsewhere only by its silence.
    const isLeft = (name: string): boolean => {
      const [, holder, pid] = names.exec(name) ?? []
      if (holder === undefined || own.has(name)) return false
      if (holder === place && Number(pid) !== process.pid && !lives(Number(pid))) return true
      const found = statSync(join(folder, name), { throwIfNoEntry: false })
      return found !== undefined && clock.now() - found.mtimeMs > silenceMs
    }

    return {
      lasting: true,
      open() {
        makeFolder(folder)
        return journalAt(freshName())
      },
      take() {
        let found: string[]
        try {
          found = readdirSync(folder)
        } catch {
          // Before the first count there is no folder.
          return null
        }
        for (const name of found.filter(isLeft)) {
          const mine = freshName()
          try {
            renameSync(join(folder, name), join(folder, mine))
          } catch {
            // Another process was first.
            own.delete(mine)
            continue
          }
          // What follows the last end of a line was never said to be kept.
          const lines = readFileSync(join(folder, mine), 'utf8').split('\n').slice(0, -1)
          drop(join(folder, `${name}.next`))
          return { journal: journalAt(mine), lines }
        }
        return null
      },
    }
  },
})
