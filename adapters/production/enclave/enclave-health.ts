import { Unavailable } from '../../../core/errors.ts'
import type { Enclave, Keyset } from '../../../core/ports/enclave.ts'
import type { Alarm, Clock, Log } from '../../../core/ports/platform.ts'

/** Ms that published keys are taken for current. */
const fresh = 5_000
/** Ms in which an enclave answers a question for its keys, or counts as silent. */
const patience = 5_000
/** Ms after which a healthy enclave may be gone: a leaving enclave still opens requests for a little longer. */
const sure = 5_500
/** Ms between two questions to an enclave at work whether it is still there. */
const pulse = 3_000
/** Ms in which a new enclave may still be starting. */
const grace = 30_000
/** Ms that a request waits for an enclave that was down, and the pause before such an enclave is asked again. */
const step = 100

export interface Member {
  readonly name: string
  readonly line: Enclave
  /** The keys that it has published; none while it is down. */
  kids: ReadonlySet<string>
  /** When its newest key began; the last published is asked first. */
  since: number
  /** The time of the last answer, or of the last question without one. */
  asked: number
  /** Null until it was heard of. */
  up: boolean | null
  /** Why it is not. */
  why: unknown
  /** What the log was told. */
  said: 'up' | 'down' | null
  /** Whether it is up, while that is being found out. */
  looking: Promise<boolean> | null
  /** Ends what it has under way. */
  readonly calls: Set<(fault: Unavailable) => void>
  watch: Alarm | null
}

/** Who of several confidential processes is there, with which keys. */
export const roster = (lines: readonly Enclave[], clock: Clock, log: Log) => {
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
  /** Ms since then; a clock that was set back tells nothing, and then it is long ago. */
  const since = (then: number): number => {
    const ms = clock.now() - then
    return ms < 0 ? Infinity : ms
  }
  /** It has answered with these keys. */
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
    // Where none was seen yet they may all be on their way up.
    if (member.said !== 'down' && (seen || since(began) > grace)) {
      member.said = 'down'
      log.error('enclave.down', { enclave: member.name }, cause)
    }
    member.up = false
    member.why = cause
    member.asked = clock.now()
    member.kids = new Set()
  }

  /** One look at a time, which goes on when nobody waits for it any more: an answer that is late still counts. */
  const look = (member: Member): Promise<boolean> => {
    const silent = () => {
      const fault = new Unavailable(undefined, { cause: new Error('The enclave is silent') })
      lose(member, fault)
      for (const cut of member.calls) cut(fault)
    }
    const work = async () => {
      const late = clock.alarm(patience, silent)
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

  /** Waits for what can be found out about them at once. */
  const looked = (its: readonly Member[]): Promise<unknown> =>
    Promise.race([Promise.all(its.map(look)), clock.sleep(step)])

  const down = () => new Unavailable(undefined, { cause: members.find(({ why }) => why !== undefined)?.why })
  const ups = () => members.filter(({ up }) => up).sort((one, other) => other.since - one.since)

  /** Those that are up, the newest first. Waits only where there is none. */
  const healthy = async (): Promise<readonly Member[]> => {
    const looks = members.filter(({ asked, up }) => since(asked) > (up ? fresh : step)).map(look)
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

  /** Work that is `cut` when its enclave falls silent; `over` when it has ended. */
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
    /** Those that may be gone since they were heard of. */
    doubtful: (its: readonly Member[]): readonly Member[] => its.filter(({ asked }) => since(asked) > sure),
    close() {
      closed = true
      for (const { watch } of members) watch?.off()
    },
  }
}
