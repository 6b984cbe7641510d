import { unlessAborted } from '../../../../core/abort.ts'
import { TooMany } from '../../../../core/errors.ts'
import type { Alarm, Clock } from '../../../../core/ports/platform.ts'
import { SessionOver } from './line.ts'
import type { Session } from './session.ts'

/** Ms after which an unused session ends. */
const idleMs = 300_000

interface Kept {
  readonly session: Promise<Session>
  users: number
  /** Null while a caller uses the session. */
  alarm: Alarm | null
}

/** The sessions with one server: no caller works in the session of another. */
export interface Sessions {
  /** Works in the caller's session; in a new one where the server has ended the old one. */
  work<T>(whose: string, work: (session: Session) => Promise<T>, signal: AbortSignal): Promise<T>
  dispose(): void
}

/** At most so many sessions; `open` makes one. */
export const sessionsOf = (open: () => Promise<Session>, most: number, clock: Clock): Sessions => {
  const kept = new Map<string, Kept>()
  /** A server that keeps nothing needs one session for all. */
  let isShared = false

  const drop = (whose: string, entry: Kept): void => {
    if (kept.get(whose) === entry) kept.delete(whose)
    // The server that comes back may keep something for each caller.
    if (whose === '') isShared = false
    entry.alarm?.off()
    entry.session.then((session) => session.close()).catch(() => {})
  }
  const makeRoom = (): void => {
    if (kept.size < most) return
    const idle = [...kept].find(([, { users }]) => users === 0)
    if (idle === undefined) throw new TooMany('The tool’s server is busy', { limit: 'places', retryAfter: 1_000 })
    drop(...idle)
  }
  const opened = (whose: string): Kept => {
    makeRoom()
    const entry: Kept = { session: open(), users: 0, alarm: null }
    entry.session.then(
      (session) => void (isShared = !session.isOwn()),
      () => drop(whose, entry),
    )
    return entry
  }
  const once = async <T>(whose: string, work: (session: Session) => Promise<T>, signal: AbortSignal): Promise<T> => {
    const name = isShared ? '' : whose
    const entry = kept.get(name) ?? opened(name)
    // The session that was used last is the last to leave.
    kept.delete(name)
    kept.set(name, entry)
    entry.users++
    entry.alarm?.off()
    try {
      return await work(await unlessAborted(entry.session, signal))
    } catch (error) {
      if (error instanceof SessionOver) drop(name, entry)
      throw error
    } finally {
      entry.users--
      if (entry.users === 0 && kept.get(name) === entry) entry.alarm = clock.alarm(idleMs, () => drop(name, entry))
    }
  }

  return {
    async work(whose, work, signal) {
      try {
        return await once(whose, work, signal)
      } catch (error) {
        if (!(error instanceof SessionOver) || signal.aborted) throw error
        return once(whose, work, signal)
      }
    },
    dispose: () => kept.forEach((entry, whose) => drop(whose, entry)),
  }
}
