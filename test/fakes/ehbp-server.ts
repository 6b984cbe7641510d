import { AEAD_AES_256_GCM, KDF_HKDF_SHA256, KEM_DHKEM_X25519_HKDF_SHA256 } from '@panva/hpke-noble'
import { Identity, PROTOCOL, deriveResponseKeys, encryptChunk, hexToBytes } from 'ehbp'
import { CipherSuite } from 'hpke'
import { randomBytes } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { Test } from 'tap'
import type { Fault } from '../../plugins/sealed/client/error.ts'
import { listening } from './listening.ts'

/** Changes one thing of an answer: its status and headers, its plain parts, or its framed bytes. */
export interface AnswerChange {
  readonly status?: number
  readonly type?: string
  readonly plain?: readonly string[]
  readonly withoutNonce?: true
  framed?(chunks: readonly Buffer[]): readonly Buffer[]
}

const lengthOf = (bytes: Uint8Array): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return length
}

/** The serving end of the protocol by packages of others alone: `hpke`, and the keys of answers by `ehbp`. */
export const ehbpEnd = async (answer: (plain: string) => AnswerChange) => {
  const suite = new CipherSuite(KEM_DHKEM_X25519_HKDF_SHA256, KDF_HKDF_SHA256, AEAD_AES_256_GCM)
  const pair = await suite.GenerateKeyPair(true)
  const publicKey = Buffer.from(await suite.SerializePublicKey(pair.publicKey)).toString('hex')
  const config = await (await Identity.fromPublicKeyHex(publicKey)).marshalConfig()
  const requests: string[] = []
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === PROTOCOL.KEYS_PATH)
      return response.writeHead(200, { 'content-type': PROTOCOL.KEYS_MEDIA_TYPE }).end(config)
    // An empty page of the same origin, for clients in browsers.
    if (request.method === 'GET') return response.setHeader('content-type', 'text/html').end('<!doctype html>')
    const parts: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    const body = Buffer.concat(parts)
    const enc = hexToBytes(String(request.headers[PROTOCOL.ENCAPSULATED_KEY_HEADER.toLowerCase()]))
    const info = new TextEncoder().encode('ehbp request')
    const context = await suite.SetupRecipient(pair, enc, { info })
    const heard = Buffer.from(await context.Open(new Uint8Array(body.subarray(4)))).toString()
    requests.push(heard)
    const { status = 200, type = 'application/json', plain = [], withoutNonce, framed } = answer(heard)
    const nonce = new Uint8Array(randomBytes(32))
    const keys = await deriveResponseKeys(
      await context.Export(new TextEncoder().encode('ehbp response'), 32),
      enc,
      nonce,
    )
    const sealed = await Promise.all(
      plain.map(async (part, at) => {
        const chunk = await encryptChunk(keys, at, new TextEncoder().encode(part))
        return Buffer.concat([lengthOf(chunk), chunk])
      }),
    )
    const headers = withoutNonce ? {} : { [PROTOCOL.RESPONSE_NONCE_HEADER]: Buffer.from(nonce).toString('hex') }
    response.writeHead(status, { 'content-type': type, ...headers })
    for (const chunk of withoutNonce ? plain : (framed ?? ((all) => all))(sealed)) response.write(chunk)
    response.end()
  }
  return { serve, publicKey, requests }
}

/** A server of the protocol on the loopback. */
export const ehbpServer = async (t: Test, answer: () => AnswerChange) => {
  const { serve, ...end } = await ehbpEnd(answer)
  const { port } = await listening(
    t,
    createServer((request, response) => void serve(request, response)),
    '127.0.0.1',
  )
  return { base: `http://127.0.0.1:${port}`, ...end }
}

export const completion = {
  id: 'x',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'heard' } }],
}

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const pieces = [event({ choices: [{ delta: { content: 'he' } }] }), event({ choices: [{ delta: { content: 'ard' } }] })]
const type = 'text/event-stream'
/** A stream in its plain parts. */
export const streamed: readonly string[] = [...pieces, 'data: [DONE]\n\n']

/** Answers that hold. */
export const wholeAnswers = {
  json: { plain: [JSON.stringify(completion)] },
  stream: { type, plain: streamed },
} satisfies Readonly<Record<string, AnswerChange>>

const cutLast = (all: readonly Buffer[]) => all.map((one, at) => (at === all.length - 1 ? one.subarray(0, -1) : one))
/** Answers that a client has to refuse, each wrong in one thing, with the fault that it tells. */
export const spoiledAnswers: Readonly<Record<string, readonly [AnswerChange, Fault]>> = {
  'a stream without the mark of its end': [{ type, plain: pieces }, 'truncated'],
  'a stream whose last chunk was dropped': [{ type, plain: streamed, framed: (all) => all.slice(0, -1) }, 'truncated'],
  'a stream that is called JSON': [{ plain: pieces }, 'truncated'],
  'JSON that is cut between chunks': [{ plain: ['{"a":{}', '}'], framed: (all) => all.slice(0, 1) }, 'truncated'],
  'a chunk that is cut': [{ plain: ['{}'], framed: ([one]) => [one!.subarray(0, -1)] }, 'truncated'],
  'a chunk that is cut behind the mark of the end': [
    { type, plain: [...streamed, ': more\n\n'], framed: cutLast },
    'truncated',
  ],
  'a length that is cut behind the mark of the end': [
    { type, plain: streamed, framed: (all) => [...all, Buffer.alloc(3)] },
    'truncated',
  ],
  'a changed byte': [
    { plain: ['{}'], framed: ([one]) => [Buffer.from(one!.map((byte, at) => (at === 4 ? byte ^ 1 : byte)))] },
    'damaged',
  ],
  'chunks in another order': [{ plain: ['{', '}'], framed: ([one, two]) => [two!, one!] }, 'damaged'],
  'an answer in the clear': [{ plain: ['{}'], withoutNonce: true }, 'damaged'],
  'a form without an end': [{ type: 'text/plain', plain: ['a'] }, 'truncated'],
  'a refusal in the clear': [{ status: 503, plain: ['{"error":"forged"}'], withoutNonce: true }, 'unavailable'],
}
