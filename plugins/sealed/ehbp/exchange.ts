import { AEAD_AES_256_GCM, CipherSuite, KDF_HKDF_SHA256, type KEM, type Key } from 'hpke'
import { concat, utf8 } from '../wire/bytes.ts'
import { type Kem, type Opener, encapsulate } from '../wire/kem.ts'
import { printChunk } from './chunks.ts'
import type { PublicKey } from './key-config.ts'

/** A key as the suite carries it: bytes to seal to, or the code that opens. */
interface EndKey extends Key {
  readonly bytes?: Uint8Array
  readonly opens?: Opener
}

const keyOver = (kem: Kem, type: 'public' | 'private', end: Pick<EndKey, 'bytes' | 'opens'>): EndKey => ({
  algorithm: { name: kem.name },
  extractable: false,
  type,
  ...end,
})

const absent = async (): Promise<never> => {
  throw new Error('The enclave alone makes and keeps keys')
}

/** The key agreement of our own wire, which runs on OpenSSL where Node has it, in the form of the package. */
const kemOver = (kem: Kem) => (): KEM<EndKey> => ({
  id: kem.id,
  type: 'KEM',
  name: kem.name,
  Nsecret: 32,
  Nenc: kem.cipherText,
  Npk: kem.publicKey,
  Nsk: kem.seed,
  DeriveKeyPair: absent,
  GenerateKeyPair: absent,
  SerializePublicKey: absent,
  SerializePrivateKey: absent,
  DeserializePrivateKey: absent,
  DeserializePublicKey: async (bytes) => keyOver(kem, 'public', { bytes }),
  async Encap({ bytes }) {
    if (bytes === undefined) return absent()
    const { cipherText, sharedSecret } = encapsulate(kem, bytes)
    return { shared_secret: sharedSecret, enc: cipherText }
  },
  Decap: async (enc, { opens }) => (opens === undefined ? absent() : opens(enc)),
})

/** HPKE over one of our key agreements. Another `derive` and `cipher` than those of the protocol are for vectors. */
export const suiteOver = (kem: Kem, derive = KDF_HKDF_SHA256, cipher = AEAD_AES_256_GCM): CipherSuite<EndKey> =>
  new CipherSuite(kemOver(kem), derive, cipher)

/** The end that opens, for the suite of its key agreement. */
export const openingEnd = (kem: Kem, opens: Opener): EndKey => keyOver(kem, 'private', { opens })

const info = utf8('ehbp request')
const kdf = KDF_HKDF_SHA256()
const aead = AEAD_AES_256_GCM()
const nothing = new Uint8Array()
/** In bytes: the nonce of an answer. */
export const answerNonce = 32

/** What both ends know after a request: enough to seal and open its answer. */
export interface AnswerSecret {
  readonly encapsulated: Uint8Array
  readonly secret: Uint8Array
}

interface Exporting {
  Export(context: Uint8Array, length: number): Promise<Uint8Array>
}

const answerSecret = async (encapsulated: Uint8Array, context: Exporting): Promise<AnswerSecret> => ({
  encapsulated,
  secret: await context.Export(utf8('ehbp response'), 32),
})

/** Key and nonces of an answer. The number of a chunk changes the end of its nonce. */
export const answerKeys = async ({ encapsulated, secret }: AnswerSecret, nonce: Uint8Array) => {
  const drawn = await kdf.Extract(concat(encapsulated, nonce), secret)
  const [key, base] = [await kdf.Expand(drawn, utf8('key'), 32), await kdf.Expand(drawn, utf8('nonce'), 12)]
  let next = 0
  const nonceOfNext = (): Uint8Array => {
    const own = base.slice()
    const view = new DataView(own.buffer)
    view.setUint32(8, view.getUint32(8) ^ next)
    if (++next > 0xffffffff) throw new Error('The answer has too many chunks')
    return own
  }
  return { key, nonceOfNext }
}

/** A request that is sealed in one chunk. */
export const sealRequest = async (
  { kem, bytes }: PublicKey,
  plain: Uint8Array,
): Promise<{ readonly body: Uint8Array; readonly answer: AnswerSecret }> => {
  const end = keyOver(kem, 'public', { bytes })
  const { encapsulatedSecret, ctx } = await suiteOver(kem).SetupSender(end, { info })
  const body = printChunk(await ctx.Seal(plain))
  return { body, answer: await answerSecret(encapsulatedSecret, ctx) }
}

/** Opens the chunks of a request in their order. Rejects for another key and for changed bytes. */
export const openRequest = async (
  kem: Kem,
  opens: Opener,
  encapsulated: Uint8Array,
  chunks: readonly Uint8Array[],
): Promise<{ readonly plain: Uint8Array; readonly answer: AnswerSecret }> => {
  const context = await suiteOver(kem).SetupRecipient(openingEnd(kem, opens), encapsulated, { info })
  const parts: Uint8Array[] = []
  for (const chunk of chunks) parts.push(await context.Open(chunk))
  return { plain: concat(...parts), answer: await answerSecret(encapsulated, context) }
}

/** Opens the chunks of one answer in their order. Rejects for a changed, missing or moved chunk. */
export const answerOpener = async (answer: AnswerSecret, nonce: Uint8Array) => {
  const { key, nonceOfNext } = await answerKeys(answer, nonce)
  return (cipherText: Uint8Array): Promise<Uint8Array> => aead.Open(key, nonceOfNext(), nothing, cipherText)
}
