import { sseEvents } from '../../shared/sse.ts'
import type { ChatBody, Chunk, Completion } from '../../../core/ports/upstream.ts'
import { chunksIn } from '../ehbp/chunks.ts'
import type { PublicKey } from '../ehbp/key-config.ts'
import { fromHex, toHex } from '../wire/bytes.ts'
import { kems } from '../wire/kem-names.ts'
import { bytesOf } from './answer-bytes.ts'
import { streamOf } from './byte-source.ts'
import { cutBy, SealgateError } from './error.ts'
import { clearRefusal, sealingKeys } from './seal-request.ts'
import { type Policy, policyOf } from './verify.ts'

/** A server of the Encrypted HTTP Body Protocol, and the proof of its key: `policy` for a gateway, or `key`. */
export interface EhbpOptions {
  /** The address before `/chat/completions`, such as `https://gateway.example.org/ehbp/v1`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** What the enclave of a gateway must prove. The client seals to its X-Wing key. */
  readonly policy?: Policy
  /** The key that the evidence of another service binds, as `sealgate verify --service` shows it, in hex. */
  readonly key?: { readonly kem: 'x25519' | 'x-wing'; readonly publicKey: string }
  /** Passes on refusals in the clear, which every attacker on the way can write. They are dropped otherwise. */
  readonly acceptClearRefusals?: boolean
  /** Passes on answers of a form whose end nothing shows. They are refused otherwise. */
  readonly acceptOpenEnds?: boolean
  readonly fetch?: typeof globalThis.fetch
}

/** A client of the Encrypted HTTP Body Protocol. */
export interface Ehbp {
  /** For any client of the common chat format: seals a body, and opens its answer. */
  readonly fetch: typeof globalThis.fetch
  readonly chat: {
    readonly completions: {
      create(params: ChatBody & { readonly stream: true }, options?: EhbpCall): Promise<AsyncIterable<Chunk>>
      create(params: ChatBody & { readonly stream?: false | null }, options?: EhbpCall): Promise<Completion>
    }
  }
}

interface EhbpCall {
  readonly signal?: AbortSignal
}

/** Seals to a proven key alone. Path, headers, status and the end of an answer are not sealed by this protocol. */
export const ehbp = (options: EhbpOptions): Ehbp => {
  const { apiKey, fetch = globalThis.fetch } = options
  const baseUrl = options.baseUrl.replace(/(?<!\/)\/+$/, '')
  const keyFor = provenKey(options, fetch.bind(globalThis))
  const send: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const plain = new Uint8Array(await request.arrayBuffer())
    if (plain.length === 0) throw new SealgateError('unsealed')
    for (let fresh = false; ; fresh = true) {
      const sent = await sealed(await keyFor(fresh), request, plain, fetch)
      if (sent.answer.status !== 422 || fresh || options.key !== undefined) return openedAnswer(sent, options)
      await sent.answer.body?.cancel()
    }
  }
  const create = async (params: ChatBody & { readonly stream?: boolean | null }, { signal }: EhbpCall = {}) => {
    const answer = await send(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(params),
      signal: signal ?? null,
    })
    if (!answer.ok) throw await sealedRefusal(answer)
    return params.stream === true ? chunksOf(answer, signal ?? null) : ((await answer.json()) as Completion)
  }
  return { fetch: send, chat: { completions: { create: create as Ehbp['chat']['completions']['create'] } } }
}

const surface = /\/ehbp\/v1\/*$/

/** The address of the gateway whose surface this is; a gateway may stand below a path. */
const gatewayOf = (baseUrl: string): string =>
  surface.test(baseUrl) ? baseUrl.replace(surface, '') : new URL(baseUrl).origin

/** The key is verified before its first use, and again when a server no longer knows it. */
const provenKey = ({ baseUrl, apiKey, policy, key }: EhbpOptions, fetch: typeof globalThis.fetch) => {
  if (key !== undefined) {
    const kem = kems.find(({ name }) => name === key.kem)
    const bytes = kem && fromHex(key.publicKey.toLowerCase(), kem.publicKey)
    if (!kem || bytes?.length !== kem.publicKey) throw new SealgateError('no_key')
    return async (): Promise<PublicKey> => ({ kem, bytes })
  }
  const at = { baseUrl: gatewayOf(baseUrl), apiKey, policy: policyOf(policy ?? {}), fetch }
  const keys = sealingKeys(at)
  return async (fresh: boolean): Promise<PublicKey> => {
    const { kem: id, publicKey } = await keys.current(fresh, null)
    return { kem: kems.find((kem) => kem.id === id)!, bytes: publicKey }
  }
}

const sealed = async (key: PublicKey, request: Request, plain: Uint8Array, fetch: typeof globalThis.fetch) => {
  const { sealRequest } = await import('../ehbp/exchange.ts')
  const { body, answer: secret } = await sealRequest(key, plain)
  const headers = new Headers(request.headers)
  headers.set('ehbp-encapsulated-key', toHex(secret.encapsulated))
  const { method, url, signal } = request
  const answer = await fetch(url, { method, headers, body: body as Uint8Array<ArrayBuffer>, signal }).catch(
    (cause: unknown) => {
      throw signal.aborted ? signal.reason : new SealgateError('unreachable', { cause })
    },
  )
  return { answer, secret, signal }
}

/** An answer in the clear is no answer of the enclave: of a refusal the status counts alone. */
const openedAnswer = async (
  { answer, secret, signal }: Awaited<ReturnType<typeof sealed>>,
  { acceptClearRefusals = false, acceptOpenEnds = false }: EhbpOptions,
): Promise<Response> => {
  const { status, headers } = answer
  const given = headers.get('ehbp-response-nonce')
  if (given === null && !answer.ok) {
    if (acceptClearRefusals) return answer
    await answer.body?.cancel()
    throw clearRefusal(answer)
  }
  const { answerNonce, answerOpener } = await import('../ehbp/exchange.ts')
  const nonce = given === null ? null : fromHex(given, answerNonce)
  if (nonce?.length !== answerNonce || answer.body === null) throw new SealgateError('damaged')
  const open = await answerOpener(secret, nonce)
  const form = formOf(headers.get('content-type') ?? '')
  if (form === null && !acceptOpenEnds) throw new SealgateError('truncated')
  const plain = opened(bytesOf(answer, signal), open, signal)
  const body = form === 'json' ? await wholeJson(plain) : streamOf(form === 'events' ? marked(plain) : plain)
  const kept = new Headers(headers)
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) kept.delete(name)
  return new Response(body, { status, headers: kept })
}

/** Forms whose own text shows the end. The type comes in the clear: another one finds no end and is refused. */
const formOf = (type: string): 'json' | 'events' | null => {
  const name = type.split(';', 1)[0]?.trim().toLowerCase()
  if (name === 'application/json') return 'json'
  return name === 'text/event-stream' ? 'events' : null
}

async function* opened(
  bytes: AsyncIterable<Uint8Array>,
  open: (cipherText: Uint8Array) => Promise<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const chunks = chunksIn(bytes)
  for (;;) {
    const { done, value } = await chunks.next().catch(cutBy(signal))
    if (done) return
    yield await open(value).catch((cause: unknown) => {
      throw new SealgateError('damaged', { cause })
    })
  }
}

/** Rejects for a text that is cut. */
const wholeJson = async (plain: AsyncIterable<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of plain) text += decoder.decode(part, { stream: true })
  text += decoder.decode()
  try {
    JSON.parse(text)
    return text
  } catch (cause) {
    throw new SealgateError('truncated', { cause })
  }
}

/** Characters of the mark with which the common chat format ends, and of spaces around it. */
const mostEnd = 64

/** Rejects at the end of a stream that has no mark of its end. */
async function* marked(plain: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let end = ''
  for await (const part of plain) {
    // The mark is ASCII; a part may begin and end within a character.
    end = (end + String.fromCharCode(...part.subarray(-mostEnd))).slice(-mostEnd)
    yield part
  }
  if (!/(?:^|\n)data: ?\[DONE\]\s*$/.test(end)) throw new SealgateError('truncated')
}

/** What the enclave says inside the seal of a refusal. */
const sealedRefusal = async (answer: Response): Promise<SealgateError> => {
  const { error } = (await answer.json().catch(() => ({}))) as { error?: Readonly<Record<string, unknown>> }
  const { code, param, message } = error ?? {}
  const { status, retryAfter, requestId } = clearRefusal(answer)
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  const facts = { status, retryAfter, requestId, code: text(code), field: text(param), told: text(message) }
  return new SealgateError('failed', facts)
}

async function* chunksOf(answer: Response, signal: AbortSignal | null): AsyncGenerator<Chunk> {
  for await (const { data } of sseEvents(bytesOf(answer, signal))) {
    if (data.trim() === '[DONE]') continue
    const chunk = JSON.parse(data) as Chunk & { error?: { code?: string; message?: string } }
    if (chunk.error)
      throw new SealgateError('failed', { code: chunk.error.code ?? null, told: chunk.error.message ?? null })
    yield chunk
  }
}
