import { sseEvents } from '../../shared/sse.ts'
import { UpstreamFailed, BadRequest } from '../../../core/errors.ts'
import type { BoundKey } from '../../../core/ports/backend-evidence.ts'
import type { Answer, Door } from '../../../core/ports/platform.ts'
import { boundedBody } from '../../shared/bounded-body.ts'
import { textOf, utf8, concat, fromHex, toHex } from '../../sealed/wire/bytes.ts'
import { statusAlone } from './status-alone.ts'
import { randomBytes } from 'node:crypto'
import { aead } from '#aead'
import { x25519 } from '#x25519'
import { ed25519 } from '@noble/curves/ed25519.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'

/** In bytes: the longest answer in one piece. */
const mostAnswer = 64 * 1024 * 1024

const broken = (cause: unknown): UpstreamFailed =>
  cause instanceof UpstreamFailed ? cause : new UpstreamFailed(undefined, { cause })

const opened = (json: string, open: Change): string => {
  const value = JSON.parse(json) as unknown
  return JSON.stringify(openedChat(value, open))
}

async function* whole(answer: Answer, open: Change): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield utf8(opened(textOf(await boundedBody(answer, mostAnswer)), open))
  } catch (cause) {
    throw broken(cause)
  }
}

async function* events({ body }: Answer, open: Change): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const { data } of sseEvents(body))
      yield utf8(`data: ${data.trim() === '[DONE]' ? data : opened(data, open)}\n\n`)
  } catch (cause) {
    throw broken(cause)
  }
}

/**
 * Chats whose texts are sealed one by one, as proxies of dstack and NEAR take them. Everything else with a body is refused
 * before it goes out. Throws without a key of Ed25519.
 */
export const sealedFields = (door: Door, keys: readonly BoundKey[]): Door => {
  const key = keys.find(({ use }) => use === 'ed25519')?.key
  const bytes = key === undefined ? null : fromHex(key, 32)
  if (key === undefined || bytes?.length !== 32) throw new Error('The evidence binds no key to seal to')
  const seal = textSealer(bytes)
  return async (url, ask) => {
    if (ask.body === undefined) return door(url, ask)
    if (!new URL(url).pathname.endsWith('/chat/completions'))
      throw new UpstreamFailed(undefined, { cause: new Error('The service takes sealed chats alone') })
    const text = typeof ask.body === 'string' ? ask.body : textOf(ask.body)
    const body = JSON.stringify(sealedChat(JSON.parse(text) as unknown, seal))
    const { key: own, open } = textOpener()
    const headers = {
      ...ask.headers,
      ...{ 'x-signing-algo': 'ed25519', 'x-client-pub-key': own, 'x-model-pub-key': key },
      ...{ 'x-encryption-version': '2', 'x-encrypt-all-fields': 'true' },
    }
    const answer = await door(url, { ...ask, headers, body })
    if (answer.status !== 200) return statusAlone(answer)
    const isStream = answer.header('content-type')?.startsWith('text/event-stream') === true
    return {
      ...answer,
      header: (name) => (name === 'content-length' ? null : answer.header(name)),
      body: isStream ? events(answer, open) : whole(answer, open),
    }
  }
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])

/** Names of members with what each becomes. A name that is absent here is left to `other`. */
type Plan = Readonly<Record<string, (value: unknown, name: string) => unknown>>

const planned = (value: unknown, plan: Plan, other: (name: string) => void): Fields => {
  const made: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(fieldsOf(value))) {
    const step = Object.hasOwn(plan, name) ? plan[name] : undefined
    if (step === undefined) other(name)
    else made[name] = member === null ? null : step(member, name)
  }
  return made
}

const refused = (name: string): never => {
  throw new BadRequest('Validation failed', {
    validator: { [name]: 'The backend of this model takes no such value sealed' },
  })
}

/** A word of the format, such as a role. It goes in the clear, so that nothing else may. */
const word = (value: unknown, name: string): unknown =>
  typeof value === 'string' && /^[\w./:-]{1,128}$/.test(value) ? value : refused(name)

const figure = (value: unknown, name: string): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? value : refused(name)

const figures = ['temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'n', 'seed', 'stream'] as const
const more = ['presence_penalty', 'frequency_penalty', 'parallel_tool_calls'] as const

/**
 * The body of a chat with every text sealed. Throws for a member that the protocol seals nowhere, and which could hold
 * words of a user.
 */
const sealedChat = (body: unknown, seal: Change): Fields => {
  const text = (value: unknown, name: string) => (typeof value === 'string' ? seal(value) : refused(name))
  const json = (value: unknown) => seal(JSON.stringify(value))
  const content = (value: unknown) => (typeof value === 'string' ? seal(value) : json(value))
  const called: Plan = { name: text, arguments: text }
  const call = (value: unknown) =>
    planned(value, { id: word, type: word, function: (call) => planned(call, called, refused) }, refused)
  const message: Plan = {
    ...{ role: word, tool_call_id: word, content, reasoning_content: text, reasoning: text, refusal: text, name: text },
    tool_calls: (value) => listOf(value).map(call),
    function_call: (value) => planned(value, called, refused),
    audio: (value) => planned(value, { data: text }, refused),
  }
  const declared: Plan = { name: text, description: text, parameters: json, strict: figure }
  const tool: Plan = { type: word, function: (value) => planned(value, declared, refused) }
  const choice = (value: unknown) =>
    typeof value === 'string'
      ? word(value, 'tool_choice')
      : planned(value, { type: word, function: (choice) => planned(choice, { name: text }, refused) }, refused)
  const plan: Plan = {
    ...Object.fromEntries([...figures, ...more].map((name) => [name, figure])),
    ...{ model: word, reasoning_effort: word, tool_choice: choice },
    stream_options: (value) => planned(value, { include_usage: figure }, refused),
    messages: (value) => listOf(value).map((item) => planned(item, message, refused)),
    tools: (value) => listOf(value).map((item) => planned(item, tool, refused)),
  }
  return planned(body, plan, refused)
}

const same = (value: unknown): unknown => value
const dropped = (): void => undefined

/** The answer to a chat, or a piece of it, with every text opened. Throws for a text that is not sealed; other members go. */
const openedChat = (answer: unknown, open: Change): Fields => {
  const text = (value: unknown) => {
    if (typeof value !== 'string') throw new Error('A text is not sealed')
    return open(value)
  }
  const called: Plan = { name: text, arguments: text }
  const call: Plan = { id: same, type: same, index: same, function: (call) => planned(call, called, dropped) }
  const message: Plan = {
    ...{ role: same, content: text, reasoning_content: text, reasoning: text, refusal: text },
    tool_calls: (value) => listOf(value).map((item) => planned(item, call, dropped)),
    function_call: (value) => planned(value, called, dropped),
    audio: (value) => planned(value, { data: text }, dropped),
  }
  const messageOfAnswer = (value: unknown) => planned(value, message, dropped)
  const choice: Plan = { index: same, finish_reason: same, message: messageOfAnswer, delta: messageOfAnswer }
  const plan: Plan = {
    ...Object.fromEntries(['id', 'object', 'created', 'model', 'usage'].map((name) => [name, same])),
    choices: (value) => listOf(value).map((item) => planned(item, choice, dropped)),
  }
  return planned(answer, plan, dropped)
}

/** Changes one text. */
type Change = (text: string) => string

/** In bytes: an ephemeral key, a nonce and a tag. */
const [keySize, nonceSize, tagSize] = [32, 24, 16]
const mostText = 64 * 1024 * 1024

const secretOf = (own: Uint8Array, other: Uint8Array): Uint8Array =>
  hkdf(sha256, x25519.agree(own, other), undefined, utf8('ed25519_encryption'), 32)

/** Seals texts to a key of Ed25519, each under an ephemeral key of its own. Throws for bytes that are no key. */
const textSealer = (key: Uint8Array): Change => {
  const to = ed25519.utils.toMontgomery(key)
  return (text) => {
    if (text === '') return ''
    const [own, nonce] = [new Uint8Array(randomBytes(keySize)), new Uint8Array(randomBytes(nonceSize))]
    return toHex(concat(x25519.publicKeyOf(own), nonce, aead.seal(secretOf(own, to), nonce, utf8(text))))
  }
}

/** A fresh key of Ed25519 in hex, and what opens the texts that are sealed to it. `open` throws for every other text. */
const textOpener = (): { readonly key: string; readonly open: Change } => {
  const seed = new Uint8Array(randomBytes(32))
  const own = ed25519.utils.toMontgomerySecret(seed)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return {
    key: toHex(ed25519.getPublicKey(seed)),
    open(hex) {
      if (hex === '') return ''
      const bytes = fromHex(hex, mostText)
      if (bytes === null || bytes.length < keySize + nonceSize + tagSize) throw new Error('A text is not sealed')
      const [other, nonce] = [bytes.subarray(0, keySize), bytes.subarray(keySize, keySize + nonceSize)]
      return decoder.decode(aead.open(secretOf(own, other), nonce, bytes.subarray(keySize + nonceSize)))
    },
  }
}
