import { BadRequest, Expired, GatewayError, NotFound, Unavailable } from '../../core/errors.ts'
import type { Enclave, Keyset, SealedReply } from '../../core/ports/enclave.ts'
import type { Alarm, Clock, Log } from '../../core/ports/host.ts'

/** Ms that published keys are taken for current. */
const fresh = 5_000
/** Ms in which one that is asked for its keys answers, or counts as silent. */
const patience = 5_000
/** Ms after which one that was heard of may be gone: one that leaves opens for a little longer what was sealed to it. */
const sure = 5_500
/** Ms after which one that is at work is asked whether it is still there, again and again. */
const pulse = 3_000
/** Ms in which one that was just started may still be on its way up. */
const grace = 30_000
/** Ms that a request waits for one that was down, and that such a one is left in peace. */
const step = 100

interface Member {
  readonly name: string
  readonly line: Enclave
  kids: ReadonlySet<string>
  /** When its newest key began; the last published is asked first. */
  since: number
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

/**
 * Several confidential processes behind one port, each with keys of its own: a request goes to the one that it was
 * sealed to. One that falls silent holds up nobody but those who wait for it already, and those not for long.
 */
export const several = (lines: readonly Enclave[], clock: Clock, log: Log): Enclave => {
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
  let listed: { readonly at: number; readonly models: Awaited<ReturnType<Enclave['models']>> } | null = null

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

  /** Work that is `cut` when the one that does it falls silent; `over` when it has ended. */
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

  const asked = <T>(member: Member, ask: (line: Enclave) => Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const over = under(member, reject)
      ask(member.line).then(resolve, reject).finally(over)
    })

  /** The one that is named; else those that are up, and then those that came up since they were looked for. */
  async function* candidates(name: string | undefined): AsyncGenerator<Member> {
    const named = members.find((it) => it.name === name)
    if (named !== undefined) return yield named
    if (name !== undefined) throw new NotFound('Unknown enclave')
    const first = await healthy()
    yield* first
    await looked(members)
    yield* ups().filter((it) => !first.includes(it))
  }

  /** Of the first that answers. */
  const told = async <T>(name: string | undefined, ask: (line: Enclave) => Promise<T>): Promise<[Member, T]> => {
    let last: unknown = null
    for await (const member of candidates(name)) {
      try {
        return [member, await asked(member, ask)]
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        void look(member)
        last = error
      }
    }
    throw last
  }

  const published = async (name: string | undefined, ask: (line: Enclave) => Promise<Keyset>): Promise<Keyset> => {
    const [member, keyset] = await told(name, ask)
    learn(member, keyset)
    return keyset
  }

  const handled = async (
    member: Member,
    ask: (signal: AbortSignal) => Promise<SealedReply>,
    signal: AbortSignal,
  ): Promise<SealedReply> => {
    signal.throwIfAborted()
    const call = new AbortController()
    const end = under(member, (fault) => call.abort(fault))
    const over = () => {
      signal.removeEventListener('abort', left)
      end()
    }
    const left = () => {
      over()
      call.abort(signal.reason)
    }
    signal.addEventListener('abort', left)
    try {
      const reply = await ask(call.signal)
      if (reply.kind === 'frames') return { ...reply, frames: ending(reply.frames, over) }
      over()
      return reply
    } catch (error) {
      over()
      throw error
    }
  }

  return {
    keys: (name) => published(name, (line) => line.keys()),
    attest: (challenge, name) => published(name, (line) => line.attest(challenge)),
    async models(signal) {
      if (listed === null || clock.now() - listed.at > fresh) {
        const [, models] = await told(undefined, (line) => line.models(signal))
        listed = { at: clock.now(), models }
      }
      return listed.models
    },
    async handle(route, sealed, grant, signal, shelf) {
      const large = Symbol.asyncIterator in sealed
      const fields = large ? {} : (sealed as Readonly<Record<string, unknown>>)
      const kid = fields['enclaveKid'] ?? fields['enclave_kid'] ?? grant.enclaveKid
      const holders = () => ups().filter(({ kids }) => typeof kid !== 'string' || kids.has(kid))
      await healthy()
      const unsure = holders().filter(({ asked }) => since(asked) > sure)
      if (unsure.length > 0) await looked(unsure)
      if (holders().length === 0) await looked(members)
      const up = ups()
      if (up.length === 0) throw down()
      // An old key that is no longer published still opens for a while: whoever has it says so.
      const holder = holders()
      let last: unknown = null
      for (const member of holder.length > 0 ? holder : up) {
        try {
          return await handled(member, (signal) => member.line.handle(route, sealed, grant, signal, shelf), signal)
        } catch (error) {
          signal.throwIfAborted()
          if (error instanceof Unavailable) void look(member)
          // A failed opening records nothing, so the next one may try.
          const other = error instanceof Expired || (error instanceof BadRequest && error.validator === null)
          if (large || !other || !(error instanceof GatewayError)) throw error
          last = error
        }
      }
      throw last
    },
    async dispose() {
      closed = true
      for (const { watch } of members) watch?.off()
      await Promise.all(members.map(({ line }) => line.dispose?.()))
    },
  }
}

async function* ending(frames: AsyncIterable<string>, over: () => void): AsyncGenerator<string> {
  try {
    yield* frames
  } finally {
    over()
  }
}
