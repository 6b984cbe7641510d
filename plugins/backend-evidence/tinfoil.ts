import { UpstreamFailed } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { BackendEvidence, type BoundKey } from '../../core/ports/backend-evidence.ts'
import type { Answer, Door } from '../../core/ports/platform.ts'
import { chunksIn } from '../sealed/ehbp/chunks.ts'
import { answerNonce, answerOpener, sealRequest } from '../sealed/ehbp/exchange.ts'
import type { PublicKey } from '../sealed/ehbp/key-config.ts'
import { utf8, fromHex, toHex } from '../sealed/wire/bytes.ts'
import { kems } from '../sealed/wire/kem-names.ts'
import { statusAlone } from './shared/status-alone.ts'

/** Throws unless the evidence binds a key of HPKE. */
const keyOf = (keys: readonly BoundKey[]): PublicKey => {
  const bound = keys.find(({ use }) => use === 'x25519-hpke')
  const kem = kems.find(({ name }) => name === 'x25519')
  const bytes = bound && kem && fromHex(bound.key, kem.publicKey)
  if (!kem || bytes?.length !== kem.publicKey) throw new Error('The evidence binds no key of HPKE')
  return { kem, bytes }
}

async function* opened(
  { body }: Answer,
  open: (chunk: Uint8Array) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of chunksIn(body)) yield await open(chunk)
  } catch (cause) {
    throw cause instanceof UpstreamFailed ? cause : new UpstreamFailed(undefined, { cause })
  }
}

/** Lengths of the sealed bytes say nothing of the opened ones. */
const hidden: readonly string[] = ['content-length', 'content-encoding']

/** Bodies by the Encrypted HTTP Body Protocol. A question without a body holds nothing of a user. */
const sealed =
  (door: Door, key: PublicKey): Door =>
  async (url, ask) => {
    if (ask.body === undefined) return door(url, ask)
    const plain = typeof ask.body === 'string' ? utf8(ask.body) : ask.body
    const { body, answer: secret } = await sealRequest(key, plain)
    const headers = { ...ask.headers, 'ehbp-encapsulated-key': toHex(secret.encapsulated) }
    const answer = await door(url, { ...ask, headers, body })
    const given = answer.header('ehbp-response-nonce')
    if (given === null && (answer.status < 200 || answer.status > 299)) return statusAlone(answer)
    const nonce = given === null ? null : fromHex(given.toLowerCase(), answerNonce)
    if (nonce?.length !== answerNonce) {
      answer.discard()
      throw new UpstreamFailed(undefined, { cause: new Error('The answer is not sealed') })
    }
    const open = await answerOpener(secret, nonce)
    return {
      ...answer,
      header: (name) => (hidden.includes(name) ? null : answer.header(name)),
      body: opened(answer, open),
    }
  }

/** Tinfoil: one hash over TLS key, HPKE key and nonce in the report. Bodies are sealed by its protocol. */
export default plugin({
  port: BackendEvidence,
  name: 'tinfoil',
  create: (): BackendEvidence => ({
    kind: 'tinfoil',
    service: 'tinfoil',
    place: (nonce) => `/.well-known/tinfoil-attestation?nonce=${toHex(nonce)}`,
    sealed: (door, keys) => sealed(door, keyOf(keys)),
  }),
})
