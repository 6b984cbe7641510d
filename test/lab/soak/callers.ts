import { Agent as HttpAgent } from 'node:http'
import { Agent, type RequestInit, fetch } from 'undici'
import { connect, newKek, newRagDek } from '../../../plugins/sealed/client/client.ts'
import type { Target } from './traffic.ts'

export interface Caller extends Target {
  /** What its requests end with while a call of it is under way. */
  leave: AbortSignal | null
  /** Whether a call that was left may have left files. */
  untidy: boolean
}

export interface Callers {
  readonly all: readonly Caller[]
  /** The one that rested longest. */
  take(): Caller
  give(caller: Caller): void
  /** Requests that were sealed to a key that is over, and so were answered on the second try. */
  late(): number
  close(): Promise<void>
}

/** Ms that a line of a caller rests: the gateway closes it after 65 seconds, and may do so while a call is on its way. */
const restMs = 30_000

/** One of each key, of another user, with keys of its own and a client that knows the enclave by itself. */
export const callersOf = (base: string, keys: readonly string[]): Callers => {
  const agent = new HttpAgent({ keepAlive: true, maxSockets: Infinity, timeout: restMs })
  const dispatcher = new Agent({ connections: null })
  let late = 0

  const callerOf = (key: string, at: number): Caller => {
    // Each enclave has half of them.
    const which = `&enclave=e${at % 2}`
    const own = async (url: string, init: RequestInit) => {
      const full = url.includes('/attestation?') ? url + which : url
      const answer = await fetch(full, { ...init, dispatcher, signal: init.signal ?? caller.leave })
      if (answer.status === 400 && (await answer.clone().text()).includes('Expected a published key')) late++
      return answer
    }
    const kek = newKek()
    const options = { apiKey: key, policy: { allowInsecureDev: true }, kek, wrappedRagDek: newRagDek(kek) }
    const ways = { base, key, agent, fetch: own as unknown as typeof globalThis.fetch }
    const client = connect({ baseUrl: base, ...options, fetch: ways.fetch })
    const caller: Caller = { ...ways, client, leave: null, untidy: false }
    return caller
  }

  const all = keys.map(callerOf)
  const resting = [...all]
  return {
    all,
    take: () => resting.shift()!,
    give: (caller) => void resting.push(caller),
    late: () => late,
    async close() {
      agent.destroy()
      await dispatcher.destroy()
    },
  }
}

/** Removes what calls that were left have left, whether its client could open it or not. */
export const tidied = async ({ base, key, fetch }: Caller): Promise<void> => {
  const headers = { authorization: `Bearer ${key}` }
  const url = `${base}/files/encrypted`
  for (;;) {
    const { data } = (await (await fetch(`${url}?limit=100`, { headers })).json()) as {
      readonly data: { readonly files: readonly { readonly id: string }[] }
    }
    if (data.files.length === 0) return
    for (const { id } of data.files) {
      const { status } = await fetch(`${url}/${id}`, { method: 'DELETE', headers })
      if (status !== 200 && status !== 404) throw new Error(`status ${status} instead of 200`)
    }
  }
}
