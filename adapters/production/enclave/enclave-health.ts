import { Unavailable } from '../../../core/errors.ts'
import type { Enclave, Keyset } from '../../../core/ports/enclave.ts'
import type { Alarm, Clock, Log } from '../../../core/ports/platform.ts'

/** In ms: published keys count as current for this time. */
const freshMs = 5_000
/** In ms: an enclave without an answer about its keys after this time is silent. */
const patienceMs = 5_000
/** In ms: after this time a healthy enclave may be gone. A leaving enclave opens requests for a little longer. */
const sure = 5_500
/** In ms: the pause between two health checks of a busy enclave. */
const pulse = 3_000
/** In ms: the time in which a new enclave may still be starting. */
const grace = 30_000
/**
 * In ms: a request waits this long for an enclave that was down, and the gateway pauses this long before the next
 * check.
 */
const step = 100

export interface Member {
  readonly name: string
  readonly line: Enclave
  /** The published keys of the enclave; empty while it is down. */
  kids: ReadonlySet<string>
  /** The start of the newest key. The enclave with the latest start is asked first. */
  since: number
  /** The time of the last answer, or of the last question without an answer. */
  asked: number
  /** Null before the first result. */
  up: boolean | null
  /** The error that keeps the enclave down. */
  why: unknown
  /** The last state in the log. */
  said: 'up' | 'down' | null
  /** The check in progress. */
  looking: Promise<boolean> | null
  /** The calls in progress; each function ends one. */
  readonly calls: Set<(fault: Unavailable) => void>
  watch: Alarm | null
}

/** The state of several enclave processes, and the keys of each. */
export const enclaveHealth = (lines: readonly Enclave[], clock: Clock, log: Log) => {
  const members = lines.map((line, at): Member => ({
    name: `e${at}`,
    line,
    kids: new Set(),
    since: 0,
    asked: -Infinity,
    up: null,
    why: undefined,
    said: null,
    looking: null,
    calls: new Set(),
    watch: null,
  }))

  const began = clock.now()
  let seen = false
  let closed = false
  /** In ms since then. A clock that was set back gives Infinity. */
  const since = (then: number): number => {
    const ms = clock.now() - then
    return ms < 0 ? Infinity : ms
  }
  /** Stores the keys of an answer. */
  const learn = (member: Member, { keys }: Keyset): void => {
    member.kids = new Set(keys.map(({ enclaveKid }) => enclaveKid))
    member.since = Math.max(0, ...keys.map(({ not_before }) => not_before))
    member.asked = clock.now()
    if (member.said === 'down') log.info('enclave.up', { enclave: member.name })
    member.said = 'up'
    member.up = true
    seen = true
  }

  const lose = (member: Member, cause: unknown): void => {
    // Before the first enclave is up, all of them may still be starting.
    if (member.said !== 'down' && (seen || since(began) > grace)) {
      member.said = 'down'
      log.error('enclave.down', { enclave: member.name }, cause)
    }
    member.up = false
    member.why = cause
    member.asked = clock.now()
    member.kids = new Set()
  }

  /** Runs one check at a time. A check continues without a waiting caller, since a late answer still counts. */
  const look = (member: Member): Promise<boolean> => {
    const silent = () => {
      const fault = new Unavailable(undefined, { cause: new Error('The enclave is silent') })
      lose(member, fault)
      for (const cut of member.calls) cut(fault)
    }
    const work = async () => {
      const late = clock.alarm(patienceMs, silent)
      try {
        learn(member, await member.line.keys())
      } catch (cause) {
        lose(member, cause)
      } finally {
        late.off()
        member.looking = null
      }
      return member.up === true
    }
    return (member.looking ??= work())
  }

  /** Waits briefly for the results of checks. */
  const looked = (its: readonly Member[]): Promise<unknown> =>
    Promise.race([Promise.all(its.map(look)), clock.sleep(step)])

  const down = () => new Unavailable(undefined, { cause: members.find(({ why }) => why !== undefined)?.why })
  const ups = () => members.filter(({ up }) => up).sort((one, other) => other.since - one.since)

  /** The enclaves that are up, newest first. Waits only when none is up. */
  const healthy = async (): Promise<readonly Member[]> => {
    const looks = members.filter(({ asked, up }) => since(asked) > (up ? freshMs : step)).map(look)
    if (ups().length === 0) {
      const first = Promise.any(looks.map((it) => it.then((up) => up || Promise.reject(new Error('Down')))))
      await Promise.race([first.catch(() => false), clock.sleep(step)])
    }
    const up = ups()
    if (up.length > 0) return up
    if (seen || closed || since(began) > grace) throw down()
    await clock.sleep(step)
    return healthy()
  }

  /** Registers a call. `cut` ends it when its enclave falls silent; the returned function removes it. */
  const under = (member: Member, cut: (fault: Unavailable) => void): (() => void) => {
    member.calls.add(cut)
    const watch = () => {
      member.watch = null
      if (member.calls.size === 0) return
      void look(member)
      member.watch = clock.alarm(pulse, watch)
    }
    member.watch ??= clock.alarm(pulse, watch)
    return () => void member.calls.delete(cut)
  }

  return {
    members,
    learn,
    look,
    looked,
    ups,
    healthy,
    down,
    under,
    /** The members that may have gone since their last answer. */
    doubtful: (its: readonly Member[]): readonly Member[] => its.filter(({ asked }) => since(asked) > sure),
    close() {
      closed = true
      for (const { watch } of members) watch?.off()
    },
  }
}
