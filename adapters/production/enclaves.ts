import { BadRequest, Expired, GatewayError, NotFound, Unavailable } from '../../core/errors.ts'
import type { Enclave, Keyset } from '../../core/ports/enclave.ts'
import type { Clock, Log } from '../../core/ports/host.ts'

const fresh = 5_000
const patience = 10_000
/** Ms in which one that was just started may still be on its way up. */
const grace = 30_000
const step = 100

interface Member {
  readonly name: string
  readonly line: Enclave
  kids: ReadonlySet<string>
  /** When its newest key began; the last published is asked first. */
  since: number
  asked: number
  up: boolean
}

/** Several confidential processes behind one port, each with keys of its own: a request goes to the one that it was sealed to. */
export const several = (lines: readonly Enclave[], clock: Clock, log: Log): Enclave => {
  const members = lines.map((line, at): Member => ({
    name: `e${at}`,
    line,
    kids: new Set(),
    since: 0,
    asked: 0,
    up: true,
  }))

  const began = clock.now()
  let seen = false
  let listed: { readonly at: number; readonly models: Awaited<ReturnType<Enclave['models']>> } | null = null

  const learn = (member: Member, { keys }: Keyset): void => {
    member.kids = new Set(keys.map(({ enclaveKid }) => enclaveKid))
    member.since = Math.max(0, ...keys.map(({ not_before }) => not_before))
    member.asked = clock.now()
    if (seen && !member.up) log.info('enclave.up', { enclave: member.name })
    member.up = true
    seen = true
  }

  const look = async (member: Member): Promise<void> => {
    try {
      learn(member, await member.line.keys())
    } catch (cause) {
      if (seen && member.up) log.error('enclave.down', { enclave: member.name }, cause)
      member.up = false
      member.asked = clock.now()
      member.kids = new Set()
    }
  }

  const healthy = async (): Promise<readonly Member[]> => {
    const stale = members.filter(({ asked, up }) => clock.now() - asked > (up ? fresh : step))
    await Promise.all(stale.map(look))
    const up = members.filter((member) => member.up).sort((one, other) => other.since - one.since)
    if (up.length > 0) return up
    if (seen || clock.now() - began > grace) throw new Unavailable(undefined, { retryAfter: 1000 })
    await clock.sleep(step)
    return healthy()
  }

  const chosen = async (name: string | undefined): Promise<Member> => {
    if (name === undefined) return (await healthy())[0]!
    const member = members.find((it) => it.name === name)
    if (member === undefined) throw new NotFound('Unknown enclave')
    return member
  }

  const published = async (name: string | undefined, ask: (line: Enclave) => Promise<Keyset>): Promise<Keyset> => {
    const member = await chosen(name)
    const keyset = await ask(member.line)
    learn(member, keyset)
    return keyset
  }

  return {
    keys: (name) => published(name, (line) => line.keys()),
    attest: (challenge, name) => published(name, (line) => line.attest(challenge)),
    async models(signal) {
      if (listed === null || clock.now() - listed.at > fresh) {
        listed = { at: clock.now(), models: await (await chosen(undefined)).line.models(signal) }
      }
      return listed.models
    },
    async handle(route, sealed, grant, signal, shelf) {
      const fields = Symbol.asyncIterator in sealed ? {} : (sealed as Readonly<Record<string, unknown>>)
      const kid = fields['enclaveKid'] ?? fields['enclave_kid'] ?? grant.enclaveKid
      const up = await healthy()
      let holder = up.filter(({ kids }) => typeof kid !== 'string' || kids.has(kid))
      if (holder.length === 0) {
        await Promise.all(up.map(look))
        holder = up.filter(({ kids }) => kids.has(String(kid)))
      }
      // An old key that is no longer published still opens for a while: whoever has it says so.
      const asked = holder.length > 0 ? holder : up
      let last: unknown = null
      for (const member of asked) {
        try {
          return await member.line.handle(route, sealed, grant, signal, shelf)
        } catch (error) {
          signal.throwIfAborted()
          if (error instanceof Unavailable) member.asked = clock.now() - patience
          // A failed opening records nothing, so the next one may try.
          const again = !(Symbol.asyncIterator in sealed)
          const other = error instanceof Expired || (error instanceof BadRequest && error.validator === null)
          if (!again || !other || !(error instanceof GatewayError)) throw error
          last = error
        }
      }
      throw last
    },
    async dispose() {
      await Promise.all(members.map(({ line }) => line.dispose?.()))
    },
  }
}
