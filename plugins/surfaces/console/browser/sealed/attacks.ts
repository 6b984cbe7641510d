import { type Client, connect } from '../../../../sealed/client/client.ts'
import { SealgateError } from '../../../../sealed/client/error.ts'
import type { Policy } from '../../../../sealed/client/verify.ts'
import { fromHex, toHex } from '../../../../sealed/wire/bytes.ts'
import { parseKeyset, printKeyset } from '../../../../sealed/wire/keyset.ts'
import type { Gateway } from '../gateway.ts'
import { requestedPath } from './requested-path.ts'
import { type Between, watchedFetch } from './wire-watch.ts'

/** What an attack needs: the model to ask, and the proof that the reader demands. */
export interface Target {
  readonly gateway: Gateway
  readonly model: string
  readonly policy: Policy
}

/** How a try ended: `answered` is right for the honest request, and `refused` for every other one. */
export interface Outcome {
  readonly name: string
  readonly end: 'answered' | 'refused' | 'taken' | 'untried'
  /** Who refused it. */
  readonly by: 'enclave' | 'client' | null
  readonly words: string
}

/** A change that an attacker between this tab and the enclave can make. */
interface Try {
  readonly name: string
  /** Resolves where nobody minds. Throws what the client says. */
  run(target: Target): Promise<void>
}

export interface Attack {
  readonly title: string
  readonly tries: readonly Try[]
}

const clientOf = ({ gateway, policy }: Target, between: Between): Client =>
  connect({
    baseUrl: gateway.base,
    apiKey: 'the key of the reader',
    policy,
    fetch: watchedFetch(gateway, undefined, between),
  })

const messages = [{ role: 'user' as const, content: 'Say one short sentence about herons.' }]

const asks = async (target: Target, client: Client): Promise<void> =>
  void (await client.chat.completions.create({ model: target.model, messages }))

const streams = async (target: Target, client: Client): Promise<void> => {
  const chunks = await client.chat.completions.create({ model: target.model, messages, stream: true })
  for await (const chunk of chunks) void chunk
}

const isChat = (path: string): boolean => requestedPath(path).pathname === '/rvenc/chat/completions'
const isAttestation = (path: string): boolean => requestedPath(path).pathname === '/rvenc/attestation'

const flipped = (hex: string): string => {
  const at = Math.floor(hex.length / 2)
  return hex.slice(0, at) + (hex[at] === '0' ? '1' : '0') + hex.slice(at + 1)
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (init: RequestInit): Fields => JSON.parse(String(init.body)) as Fields
const withFields = (init: RequestInit, fields: Fields): RequestInit => ({ ...init, body: JSON.stringify(fields) })

/** The answer with another text. */
const retold = (answer: Response, text: string): Response =>
  new Response(text, { status: answer.status, headers: answer.headers })

const changesRequest =
  (change: (fields: Fields) => Fields): Between =>
  (path, init, send) =>
    send(path, isChat(path) ? withFields(init, change(fieldsOf(init))) : init)

const changesAnswer =
  (meant: (path: string) => boolean, change: (text: string) => string): Between =>
  async (path, init, send) => {
    const answer = await send(path, init)
    return meant(path) && answer.ok ? retold(answer, change(await answer.text())) : answer
  }

/** A try whose attacker does the same to each exchange. */
const changing = (name: string, between: Between, act = asks): Try => ({
  name,
  run: (target) => act(target, clientOf(target, between)),
})

const flippedRequest = changesRequest((fields) => ({
  ...fields,
  encryptedInference: flipped(String(fields['encryptedInference'])),
}))

const flippedAnswer = changesAnswer(isChat, (text) =>
  text.replace(/("encryptedResponse":")([0-9a-f]+)/, (_, before: string, hex: string) => before + flipped(hex)),
)

const changeAByte: Attack = {
  title: 'Change a byte',
  tries: [
    changing('One byte of the sealed request', flippedRequest),
    changing('One byte of the sealed answer', flippedAnswer),
  ],
}

const replay: Attack = {
  title: 'Replay',
  tries: [
    {
      name: 'The same sealed request a second time',
      async run(target) {
        const between: Between = async (path, init, send) => {
          const answer = await send(path, init)
          if (!isChat(path) || !answer.ok) return answer
          await answer.arrayBuffer()
          return send(path, init)
        }
        await asks(target, clientOf(target, between))
      },
    },
    {
      name: 'The answer to an earlier request',
      async run(target) {
        let earlier: string | null = null
        const between = changesAnswer(isChat, (text) => (earlier ??= text))
        const client = clientOf(target, between)
        await asks(target, client)
        await asks(target, client)
      },
    },
  ],
}

/** The two first frames of a stream in each other's place; a single one twice. */
const swappedFrames = (text: string): string => {
  const [first, second] = [...text.matchAll(/^data: [0-9a-f]{48,}$/gm)].map(([line]) => line)
  if (first === undefined) return text
  if (second === undefined) return text.replace(first, `${first}\n\nevent: data\n${first}`)
  return text.replace(first, '\u0000').replace(second, first).replace('\u0000', second)
}

const splice: Attack = {
  title: 'Splice',
  tries: [
    {
      name: 'The text of one request under the key of another',
      async run(target) {
        let kept: Fields | null = null
        const between = changesRequest((fields) => {
          if (kept === null) {
            kept = fields
            return fields
          }
          return { ...fields, encryptedInference: kept['encryptedInference'], nonce: kept['nonce'] }
        })
        const client = clientOf(target, between)
        await asks(target, client)
        await asks(target, client)
      },
    },
    changing('Two frames of a streamed answer in each other’s place', changesAnswer(isChat, swappedFrames), streams),
  ],
}

/** The keys of the enclave without the hybrid ones, which withstand a quantum computer. */
const weakened = (text: string): string =>
  text.replace(/("keyset":")([0-9a-f]+)/, (_, before: string, hex: string) => {
    const bytes = fromHex(hex, 1024 * 1024)
    const keyset = bytes && parseKeyset(bytes)
    if (!keyset) return before + hex
    const keys = keyset.keys.filter(({ publicKey }) => publicKey.length === 32)
    return before + toHex(printKeyset({ ...keyset, keys }))
  })

const pretended = (text: string): string => {
  const body = JSON.parse(text) as Fields
  return JSON.stringify({ ...body, evidence: { type: 'dev', signature: '00'.repeat(64) } })
}

const pretending = changesAnswer(isAttestation, pretended)

const clearAnswer = JSON.stringify({
  id: 'clear',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Nobody sealed this.' }, finish_reason: 'stop' }],
})

const clearly = changesAnswer(isChat, () => clearAnswer)

const downgrade: Attack = {
  title: 'Downgrade',
  tries: [
    changing('Only the weak keys of the enclave', changesAnswer(isAttestation, weakened)),
    {
      name: 'A development enclave where hardware is demanded',
      run: (target) =>
        asks(target, clientOf({ ...target, policy: { ...target.policy, allowInsecureDev: false } }, pretending)),
    },
    changing('An answer in the clear', clearly),
  ],
}

export const attacks: readonly Attack[] = [changeAByte, replay, splice, downgrade]

/** Faults that say nothing about the attack: it did not come so far. */
const obstacles: readonly string[] = ['unreachable', 'unavailable', 'busy', 'unauthorized']

const outcomeOf = (name: string, error: unknown): Outcome => {
  if (!(error instanceof SealgateError)) return { name, end: 'untried', by: null, words: 'The try broke off' }
  const { fault, status, message, reason } = error
  if (obstacles.includes(fault) || (fault === 'failed' && status !== 400))
    return { name, end: 'untried', by: null, words: message }
  return status === null
    ? { name, end: 'refused', by: 'client', words: reason === null ? message : `${message}: ${reason}` }
    : { name, end: 'refused', by: 'enclave', words: `${message}, with status ${status}` }
}

const honest: Between = (path, init, send) => send(path, init)

/**
 * Plays an attack against the real client and the real enclave. An honest request goes first: where it fails, a refusal
 * would say nothing.
 */
export async function* played({ tries }: Attack, target: Target): AsyncGenerator<Outcome> {
  const name = 'The honest request'
  const control = await asks(target, clientOf(target, honest)).then(
    (): Outcome => ({ name, end: 'answered', by: null, words: 'Sealed, answered and opened' }),
    (error: unknown): Outcome => ({ ...outcomeOf(name, error), end: 'untried', by: null }),
  )
  yield control
  if (control.end !== 'answered') return
  for (const { name, run } of tries)
    yield await run(target).then(
      (): Outcome => ({ name, end: 'taken', by: null, words: 'Nobody noticed' }),
      (error: unknown) => outcomeOf(name, error),
    )
}
