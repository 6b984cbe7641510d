import { BadRequest, Expired, GatewayError, NotFound, Unavailable } from '../../../core/errors.ts'
import type { Enclave, Keyset, SealedReply } from '../../../core/ports/enclave.ts'
import type { Flow } from '../../../core/ports/flow.ts'
import { stopWith } from '../../../plugins/shared/stop-with.ts'
import { through } from '../../../plugins/shared/through.ts'
import type { Clock, Log } from '../../../core/ports/platform.ts'
import { type LogSigner, logSignerOf } from '../../../plugins/sealed/log-signer.ts'
import {
  type EnclaveHealth,
  type Member,
  closeHealth,
  doubtful,
  down,
  enclaveHealth,
  healthy,
  isUnbegun,
  learn,
  look,
  looked,
  under,
  ups,
} from './enclave-health.ts'

/** In ms: the lifetime of a list of models. */
const modelsFreshMs = 5_000

type Ask<T> = (line: Enclave) => Promise<T>

/** Rejects as soon as the enclave counts as silent, even where the call itself would wait longer. */
const askMember = <T>(health: EnclaveHealth, member: Member, ask: Ask<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const over = under(health, member, reject)
    ask(member.line).then(resolve, reject).finally(over)
  })

/**
 * The named enclave. Without a name, the enclaves that are up, and then the enclaves that came up during the search.
 */
async function* candidates(health: EnclaveHealth, name: string | undefined): AsyncGenerator<Member> {
  const named = health.members.find((member) => member.name === name)
  if (named !== undefined) return yield named
  if (name !== undefined) throw new NotFound('Unknown enclave')
  const first = await healthy(health)
  yield* first
  await looked(health, health.members)
  yield* ups(health).filter((member) => !first.includes(member))
}

/** The answer of the first enclave that gives one. */
const told = async <T>(health: EnclaveHealth, name: string | undefined, ask: Ask<T>): Promise<[Member, T]> => {
  let last: unknown = null
  for await (const member of candidates(health, name)) {
    try {
      return [member, await askMember(health, member, ask)]
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      void look(health, member)
      last = error
    }
  }
  throw last
}

/** Each answer about keys also counts as a health check. */
const published = async (health: EnclaveHealth, name: string | undefined, ask: Ask<Keyset>): Promise<Keyset> => {
  const [member, keyset] = await told(health, name, ask)
  learn(health, member, keyset)
  return keyset
}

/** The call stays registered until its last frame, so that a silent enclave also ends a stream. */
const handled = async (
  health: EnclaveHealth,
  member: Member,
  ask: (signal: AbortSignal) => Promise<SealedReply>,
  signal: AbortSignal,
): Promise<SealedReply> => {
  signal.throwIfAborted()
  const call = stopWith(signal)
  const end = under(health, member, call.stop)
  const over = () => {
    call.off()
    end()
  }
  call.signal.addEventListener('abort', over, { once: true })
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

/** The enclaves that may open a request with this key, the likeliest first. Throws Unavailable when none is up. */
const holdersOf = async (health: EnclaveHealth, kid: unknown): Promise<readonly Member[]> => {
  const holders = () => ups(health).filter(({ kids }) => typeof kid !== 'string' || kids.has(kid))
  await healthy(health)
  const unsure = doubtful(health, holders())
  if (unsure.length > 0) await looked(health, unsure)
  if (holders().length === 0) await looked(health, health.members)
  const up = ups(health)
  if (up.length === 0) throw down(health)
  // An old, unpublished key still opens for a while: the enclave that holds it answers.
  const holder = holders()
  return holder.length > 0 ? holder : up
}

/** A body that comes as a stream can be sent once, so its first refusal is final. */
const handleIn =
  (health: EnclaveHealth): Enclave['handle'] =>
  async (route, sealed, grant, signal, enclaveFiles) => {
    const once = !(sealed instanceof Uint8Array) && Symbol.asyncIterator in sealed
    const kid = once ? grant.enclaveKid : (kidOf(sealed) ?? grant.enclaveKid)
    let last: unknown = null
    const members = [...(await holdersOf(health, kid))]
    for (const member of members) {
      const ask = (signal: AbortSignal) => member.line.handle(route, sealed, grant, signal, enclaveFiles)
      try {
        return await handled(health, member, ask, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof Unavailable) void look(health, member)
        // Another enclave tells the client that the key is over, and the client seals anew.
        const moves = isUnbegun(error)
        if (moves) members.push(...ups(health).filter((up) => !members.includes(up)))
        // A failed opening records nothing, so the next enclave may try.
        const other = moves || error instanceof Expired || (error instanceof BadRequest && error.validator === null)
        if (once || !other || !(error instanceof GatewayError)) throw error
        last = error
      }
    }
    throw last
  }

/**
 * Several enclave processes behind one port, each with its own keys. A request goes to the process that holds its key.
 * A silent enclave delays only the requests that already wait for it, and only for a short time.
 */
export const enclavePool = (lines: readonly Enclave[], clock: Clock, log: Log): Enclave & LogSigner => {
  const health = enclaveHealth(lines, clock, log)
  let listed: { readonly at: number; readonly models: Awaited<ReturnType<Enclave['models']>> } | null = null
  return {
    keys: (name) => published(health, name, (line) => line.keys()),
    attest: (challenge, name) => published(health, name, (line) => line.attest(challenge)),
    async signHead(wanted) {
      const [{ name }, answer] = await told(
        health,
        undefined,
        (line) => logSignerOf(line)?.signHead(wanted) ?? missing(),
      )
      return 'behind' in answer ? answer : { ...answer, enclave: name }
    },
    async models(signal) {
      if (listed === null || clock.now() - listed.at > modelsFreshMs) {
        const [, models] = await told(health, undefined, (line) => line.models(signal))
        listed = { at: clock.now(), models }
      }
      return listed.models
    },
    handle: handleIn(health),
    async dispose() {
      closeHealth(health)
      await Promise.all(lines.map((line) => line.dispose?.()))
    },
  }
}

/** Stands for `signHead` where an enclave has none. */
const missing = async (): Promise<never> => {
  throw new Unavailable()
}

/** In bytes: the part at each end of a long body that is searched for its key. */
const near = 4096

/** The key that a body names, which selects the first process to ask. The enclave itself reads the whole body. */
const kidOf = (sealed: Parameters<Enclave['handle']>[1]): unknown => {
  if (!(sealed instanceof Uint8Array)) {
    const fields = sealed as Readonly<Record<string, unknown>>
    return lowered(fields['enclaveKid'] ?? fields['enclave_kid'])
  }
  const text = (from: number, to: number) =>
    Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString('latin1', from, to)
  const named = /"enclaveKid"\s*:\s*"([0-9a-f]{16})"/i
  return lowered((named.exec(text(0, near)) ?? named.exec(text(Math.max(0, sealed.length - near), sealed.length)))?.[1])
}

/** Ids of keys are hexadecimal in lower case; a caller may write them in capitals. */
const lowered = (kid: unknown): unknown => (typeof kid === 'string' ? kid.toLowerCase() : kid)

/** Calls `over` after the last frame, and also when the reader leaves early. */
const ending = (frames: AsyncIterable<string>, over: () => void): Flow<string> =>
  through<string, string>(frames, { take: (frame, into) => void into.push(frame), over })
