import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { ed25519 } from '@noble/curves/ed25519.js'

const spki = Buffer.from('302a300506032b656e032100', 'hex')
const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex')

const keyOf = (secret: Uint8Array, other: Uint8Array): Uint8Array => {
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8, secret]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey({ key: Buffer.concat([spki, other]), format: 'der', type: 'spki' })
  const shared = diffieHellman({ privateKey, publicKey })
  return new Uint8Array(hkdfSync('sha256', shared, '', 'ed25519_encryption', 32))
}

const sealed = (to: Uint8Array, text: string): string => {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  const own = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))
  const secret = new Uint8Array(privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32))
  const nonce = new Uint8Array(randomBytes(24))
  const bytes = xchacha20poly1305(keyOf(secret, to), nonce).encrypt(new TextEncoder().encode(text))
  return Buffer.concat([own, nonce, bytes]).toString('hex')
}

/** What the proxy opened of a request, and where it was not sealed. */
export interface Heard {
  readonly headers: IncomingMessage['headers']
  readonly body: any
}

/** The serving end of chats whose texts are sealed one by one, by other libraries than ours. */
export const fieldsEnd = (answer: (seal: (text: string) => string, plain: any) => readonly string[]) => {
  const seed = new Uint8Array(randomBytes(32))
  const secret = ed25519.utils.toMontgomerySecret(seed)
  const open = (hex: string): string => {
    const bytes = new Uint8Array(Buffer.from(hex, 'hex'))
    const key = keyOf(secret, bytes.subarray(0, 32))
    return new TextDecoder().decode(xchacha20poly1305(key, bytes.subarray(32, 56)).decrypt(bytes.subarray(56)))
  }
  const requests: Heard[] = []
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    const body = JSON.parse(Buffer.concat(parts).toString())
    for (const message of body.messages) message.content = open(message.content)
    for (const { function: declared } of body.tools ?? [])
      for (const name of ['name', 'description', 'parameters']) declared[name] = open(declared[name])
    requests.push({ headers: request.headers, body })
    const client = ed25519.utils.toMontgomery(
      new Uint8Array(Buffer.from(String(request.headers['x-client-pub-key']), 'hex')),
    )
    response.setHeader('content-type', body.stream === true ? 'text/event-stream' : 'application/json')
    for (const part of answer((text) => sealed(client, text), body)) response.write(part)
    response.end()
  }
  return { serve, publicKey: Buffer.from(ed25519.getPublicKey(seed)).toString('hex'), requests }
}
