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

/** One enclave process, as far as its answers and silences have shown. */
export interface Member {
  readonly name: string
  readonly line: Enclave
  /** The published keys of the enclave; empty while it is down. */
  kids: ReadonlySet<string>
  /** The start of the newest key. The enclave with the latest start is asked first. */
  since: number
  /** The time of the last answer, or of the last question without an answer. */
  lastAsked: number
  /** Null before the first result. */
  up: boolean | null
  /** The error that keeps the enclave down. */
  why: unknown
  /** The last state in the log. */
  logged: 'up' | 'down' | null
  /** The check in progress. */
  looking: Promise<boolean> | null
  /** The calls in progress; each function ends one. */
  readonly calls: Set<(fault: Unavailable) => void>
  watch: Alarm | null
}

/** The state of several enclave processes, and the keys of each. */
export interface EnclaveHealth {
  readonly members: readonly Member[]
  readonly clock: Clock
  readonly log: Log
  readonly began: number
  /** True when an enclave has been up. */
  seen: boolean
  closed: boolean
}

/** No check has run yet: `up` is null, and the first call asks. */
export const enclaveHealth = (lines: readonly Enclave[], clock: Clock, log: Log): EnclaveHealth => ({
  members: lines.map((line, at): Member => ({
    name: `e${at}`,
    line,
    kids: new Set(),
    since: 0,
    lastAsked: -Infinity,
    up: null,
    why: undefined,
    logged: null,
    looking: null,
    calls: new Set(),
    watch: null,
  })),
  clock,
  log,
  began: clock.now(),
  seen: false,
  closed: false,
})

/** In ms since then. A clock that was set back gives Infinity. */
const since = ({ clock }: EnclaveHealth, then: number): number => {
  const ms = clock.now() - then
  return ms < 0 ? Infinity : ms
}

/** True while the first enclave may still be starting. */
const isStarting = (health: EnclaveHealth): boolean => !health.seen && since(health, health.began) <= grace

/** Stores the keys of an answer. */
export const learn = (health: EnclaveHealth, member: Member, { keys }: Keyset): void => {
  member.kids = new Set(keys.map(({ enclaveKid }) => enclaveKid))
  member.since = Math.max(0, ...keys.map(({ not_before }) => not_before))
  member.lastAsked = health.clock.now()
  if (member.logged === 'down') health.log.info('enclave.up', { enclave: member.name })
  member.logged = 'up'
  member.up = true
  health.seen = true
}

/** The keys of a lost enclave are forgotten, so that no request goes to a process that may be gone. */
const lose = (health: EnclaveHealth, member: Member, cause: unknown): void => {
  // Before the first enclave is up, all of them may still be starting.
  if (member.logged !== 'down' && !isStarting(health)) {
    member.logged = 'down'
    health.log.error('enclave.down', { enclave: member.name }, cause)
  }
  member.up = false
  member.why = cause
  member.lastAsked = health.clock.now()
  member.kids = new Set()
}

/** Runs one check at a time. A check continues without a waiting caller, since a late answer still counts. */
export const look = (health: EnclaveHealth, member: Member): Promise<boolean> => {
  const silent = () => {
    const fault = new Unavailable(undefined, { cause: new Error('The enclave is silent') })
    lose(health, member, fault)
    for (const cut of member.calls) cut(fault)
  }
  const work = async () => {
    const late = health.clock.alarm(patienceMs, silent)
    try {
      learn(health, member, await member.line.keys())
    } catch (cause) {
      lose(health, member, cause)
    } finally {
      late.off()
      member.looking = null
    }
    return member.up === true
  }
  return (member.looking ??= work())
}

/** Waits briefly for the results of checks. */
export const looked = (health: EnclaveHealth, members: readonly Member[]): Promise<unknown> =>
  Promise.race([Promise.all(members.map((member) => look(health, member))), health.clock.sleep(step)])

/** The fault for callers when no enclave is up; the first known cause stays with it for the log. */
export const down = ({ members }: EnclaveHealth): Unavailable =>
  new Unavailable(undefined, { cause: members.find(({ why }) => why !== undefined)?.why })

/** The enclaves that are up, newest first. */
export const ups = ({ members }: EnclaveHealth): readonly Member[] =>
  members.filter(({ up }) => up).sort((one, other) => other.since - one.since)

/** The enclaves that are up, newest first. Waits only when none is up, and throws Unavailable when none comes up. */
export const healthy = async (health: EnclaveHealth): Promise<readonly Member[]> => {
  const { members, clock } = health
  const stale = members.filter(({ lastAsked, up }) => since(health, lastAsked) > (up ? freshMs : step))
  const looks = stale.map((member) => look(health, member))
  if (ups(health).length === 0) {
    const first = Promise.any(looks.map((look) => look.then((up) => up || Promise.reject(new Error('Down')))))
    await Promise.race([first.catch(() => false), clock.sleep(step)])
  }
  const up = ups(health)
  if (up.length > 0) return up
  if (health.closed || !isStarting(health)) throw down(health)
  await clock.sleep(step)
  return healthy(health)
}

/** Registers a call. `cut` ends it when its enclave falls silent; the returned function removes it. */
export const under = (health: EnclaveHealth, member: Member, cut: (fault: Unavailable) => void): (() => void) => {
  member.calls.add(cut)
  const watch = () => {
    member.watch = null
    if (member.calls.size === 0) return
    void look(health, member)
    member.watch = health.clock.alarm(pulse, watch)
  }
  member.watch ??= health.clock.alarm(pulse, watch)
  return () => void member.calls.delete(cut)
}

/** The members that may have gone since their last answer. */
export const doubtful = (health: EnclaveHealth, members: readonly Member[]): readonly Member[] =>
  members.filter(({ lastAsked }) => since(health, lastAsked) > sure)

/** Ends the watches; a check that is under way still ends by itself. */
export const closeHealth = (health: EnclaveHealth): void => {
  health.closed = true
  for (const { watch } of health.members) watch?.off()
}

/** The name of the refusal of an enclave that begins no call any more. */
export const leaving = 'Leaving'

/** Codes of a call that no enclave has begun: nothing listens, or the enclave leaves. */
const unbegun = new Set<unknown>(['ECONNREFUSED', 'ENOENT', leaving])

/** True when no enclave has begun the call, so that another one may be asked. */
export const isUnbegun = (error: unknown): boolean =>
  error instanceof Unavailable && unbegun.has((error.cause as { readonly code?: unknown } | undefined)?.code)
