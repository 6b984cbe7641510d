import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import cache from '../../adapters/memory/cache.ts'
import { fetch, log, random, system } from '../../adapters/memory/platform.ts'
import { type Client, connect } from '../../plugins/sealed/client/client.ts'
import { buildEnclave } from '../../plugins/sealed/enclave/assemble.ts'
import type { InsideSettings } from '../../plugins/sealed/enclave-settings.ts'
import type { Fitting } from '../../core/container.ts'
import { use } from '../../core/plugin.ts'
import { Enclave, type Evidence } from '../../core/ports/enclave.ts'
import type { Guard } from '../../core/ports/guard.ts'
import { Clock } from '../../core/ports/platform.ts'
import { Prover } from '../../core/ports/attester.ts'
import { type ChatAnswer, type ChatCall, type Chunk, type Transcript, Upstream } from '../../core/ports/upstream.ts'
import type { SettingsInput } from '../../core/settings.ts'
import { type LogSigner, logSignerOf } from '../../plugins/sealed/log-signer.ts'
import { padded, utf8, fromHex, toHex } from '../../plugins/sealed/wire/bytes.ts'
import { type Kem, encapsulate, kems } from '../../plugins/sealed/wire/kem.ts'
import { type EnclaveKey, enclaveKid, parseKeyset } from '../../plugins/sealed/wire/keyset.ts'
import { freshNonce, openJson, seal } from '../../plugins/sealed/wire/seal.ts'
import dev from '../../plugins/evidence/dev.ts'
import rehearsal from '../../plugins/providers/rehearsal.ts'
import { type Running, running } from '../environments.ts'
import { given } from '../fitted.ts'

export type Play = (call: ChatCall, signal: AbortSignal) => ChatAnswer | Promise<ChatAnswer>

export const chatRoute = 'rvenc/chat/completions'
const head = { id: 'chatcmpl-played', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'its-own-name' }

export const chunk = (delta: Chunk['choices'][number]['delta'], finish_reason: string | null = null): Chunk => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason }],
})

/** Says the last message again, word by word. */
export const echo: Play = ({ body, stream }) => {
  const text = String(body.messages.at(-1)!.content)
  const usage = {
    prompt_tokens: 7,
    completion_tokens: 5,
    total_tokens: 12,
    completion_tokens_details: { reasoning_tokens: 2 },
  }
  if (!stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }]
    return { kind: 'completion', completion: { ...head, object: 'chat.completion', choices, usage } }
  }
  async function* chunks(): AsyncGenerator<Chunk> {
    yield chunk({ role: 'assistant', content: '' })
    for (const content of text.match(/\s*\S+/g) ?? []) yield chunk({ content })
    yield chunk({}, 'stop')
    yield { ...head, choices: [], usage }
  }
  return { kind: 'chunks', chunks: chunks() }
}

export const transcript: Transcript = {
  text: 'heard',
  language: 'en',
  duration: 1,
  segments: [],
  words: [],
}

const unlimited = {
  requestsPerSecond: null,
  concurrentRequests: null,
  tokensPerMinute: null,
  tokensPerDay: null,
  audioMinutesPerDay: null,
}
const confidential = { standard: false, confidential: true, upstreams: [{ provider: 'played' }] }

export const models: NonNullable<SettingsInput['models']> = {
  quiet: {
    ...confidential,
    price_config: { confidential: { eu: { prompt_price_per_k: 1, completion_price_per_k: 1 } } },
    regions: ['eu'],
  },
  other: confidential,
  hearing: { ...confidential, type: 'AUDIO_TRANSCRIPTION' },
  loud: { upstreams: [{ provider: 'rehearsal' }] },
}

export interface Wishes {
  readonly play?: Play
  readonly own?: InsideSettings
  readonly settings?: SettingsInput
  readonly guards?: readonly Fitting<Guard>[]
  /** Evidence over these 64 bytes, instead of the development kind. */
  readonly prove?: (reportData: Uint8Array) => Evidence
}

export interface Sealed extends Omit<Running, 'key'> {
  readonly apiKey: string
  /** What the backend was asked, one entry an execution. */
  readonly calls: ChatCall[]
  readonly client: Client
  /** The newest key of that kind. */
  key(kind?: Kem['name']): Promise<EnclaveKey>
  send(body: object, path?: string): Promise<Response>
  /** Another enclave in the place of this one, with keys of its own. */
  restart(): void
  /** Moves the clock of the enclave, in ms. */
  later(ms: number): void
}

/** A listening gateway in front of an enclave whose backend does what the test says. */
export const sealedStage = async (
  t: Test,
  { play = echo, own = {}, settings = {}, guards = [], prove }: Wishes = {},
): Promise<Sealed> => {
  const calls: ChatCall[] = []
  const played = given(Upstream, 'played', () => ({
    name: 'played',
    models: async () => [{ id: 'quiet', type: 'CHAT' }],
    async chat(call, signal) {
      calls.push(call)
      return play(call, signal)
    },
    transcribe: async () => transcript,
  }))
  let shift = 0
  const moved = given(Clock, 'moved', () => ({ ...system.clock, now: () => Date.now() + shift }))
  const proving = given(Prover, 'proving', () => ({
    platform: 'test',
    prove: async (reportData) => prove!(reportData),
  }))
  const all: SettingsInput = {
    models,
    limits: { key: unlimited, organization: unlimited },
    routing: { retries: 0, breaker: { faults: 100_000, ratio: 1 } },
    ...settings,
  }
  const made = (): Enclave => {
    const enclaveParts = {
      clock: moved,
      random: use(random),
      fetch: use(fetch),
      log: use(log),
      cache: use(cache),
      prover: prove === undefined ? use(dev) : proving,
      upstreams: [played],
      tools: [],
      readers: [],
      guards,
    }
    return buildEnclave(enclaveParts, all, own, new Uint8Array(32))
  }
  let current = made()
  const changing = given(Enclave, 'changing', (): Enclave & LogSigner => ({
    keys: (...row) => current.keys(...row),
    attest: (...row) => current.attest(...row),
    models: (...row) => current.models(...row),
    signHead: async (wanted) => logSignerOf(current)!.signHead(wanted),
    handle: (...row) => current.handle(...row),
    dispose: () => current.dispose?.(),
  }))
  const gateway = await running(t, { ...memory(), enclave: changing, upstreams: [use(rehearsal)] }, all)
  return {
    ...gateway,
    apiKey: gateway.key,
    calls,
    client: connect({ baseUrl: gateway.base, apiKey: gateway.key, policy: { allowInsecureDev: true } }),
    async key(kind = 'x-wing') {
      const { keyset } = (await (await gateway.call('GET', '/rvenc/keys')).json()) as { keyset: string }
      const { id } = kems.find(({ name }) => name === kind)!
      const ours = parseKeyset(fromHex(keyset, 1 << 20)!)!.keys.filter(({ kem }) => kem === id)
      return ours.sort((one, other) => other.notBefore - one.notBefore)[0]!
    },
    send: (body, path = chatRoute) => gateway.call('POST', `/${path}`, body),
    restart: () => void (current = made()),
    later: (ms) => void (shift += ms),
  }
}

/** A request that was sealed by hand, so that any part of it can be made wrong, and what opens its answer. */
export interface Crafted {
  readonly body: Readonly<Record<string, string>>
  readonly secret: Uint8Array
  readonly nonce: Uint8Array
}

export const crafted = (key: EnclaveKey, params: unknown, route: string | null = chatRoute): Crafted => {
  const bound = route === null ? params : { ...(params as object), $for: route }
  return craftedText(key, typeof params === 'string' ? params : JSON.stringify(bound))
}

/** The same of any text, be it JSON or not. */
export const craftedText = (key: EnclaveKey, text: string): Crafted => {
  const kem = kems.find(({ id }) => id === key.kem)!
  const { cipherText, sharedSecret } = encapsulate(kem, key.publicKey)
  const nonce = freshNonce()
  return {
    body: {
      encryptedInference: toHex(seal(sharedSecret, nonce, padded(utf8(text), 256))),
      cipherText: toHex(cipherText),
      nonce: toHex(nonce),
      enclaveKid: enclaveKid(key),
    },
    secret: sharedSecret,
    nonce,
  }
}

export const opened = ({ secret }: Crafted, answer: unknown): any => {
  const { encryptedResponse, nonce } = answer as { encryptedResponse: string; nonce: string }
  return openJson(secret, fromHex(nonce, 24)!, fromHex(encryptedResponse, 1 << 24)!)
}

export const asking = (content: string, more: object = {}) => ({
  model: 'quiet',
  messages: [{ role: 'user', content }],
  ...more,
})

/** The events of a stream as they were written, without the empty lines between them. */
export const eventsOf = (text: string): readonly string[] => text.split('\n\n').filter((event) => event !== '')

export const framesOf = (text: string): readonly Uint8Array[] =>
  eventsOf(text)
    .map((event) => /^event: (?:data|error)\ndata: ([0-9a-f]+)$/.exec(event)?.[1])
    .flatMap((hex) => (hex === undefined ? [] : [fromHex(hex, 1 << 20)!]))

/** A body without what is its own each time. */
export const without = (text: string): string => {
  const { support_id: _, log: __, ...rest } = JSON.parse(text) as Record<string, unknown>
  return JSON.stringify(rest)
}
