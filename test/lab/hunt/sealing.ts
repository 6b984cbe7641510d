import { randomBytes } from 'node:crypto'
import { aead } from '../../../plugins/sealed/wire/aead.node.ts'
import { fromHex } from '../../../plugins/sealed/wire/bytes.ts'
import { encapsulate, kems } from '../../../plugins/sealed/wire/kem.ts'
import { type EnclaveKey, enclaveKid, newest, parseKeyset } from '../../../plugins/sealed/wire/keyset.ts'
import { openJson } from '../../../plugins/sealed/wire/seal.ts'

const kem = kems.find(({ name }) => name === 'x-wing')!

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')

/** The newest key of the enclave, taken at its word. */
export const keyAt = async (base: string, credential: string): Promise<EnclaveKey> => {
  const answer = await fetch(`${base}/rvenc/keys`, { headers: { authorization: `Bearer ${credential}` } })
  const { keyset } = (await answer.json()) as { readonly keyset: string }
  return newest(parseKeyset(fromHex(keyset, 1 << 20)!)!, kem, Date.now())!
}

/** How a route spells what is sealed: the JSON, and further parts with the field of their nonce. */
export interface Envelope {
  readonly params: string
  readonly parts: Readonly<Record<string, { readonly nonce: string; readonly bytes: Uint8Array }>>
  /** Sent as it is. */
  readonly beside: Readonly<Record<string, string>>
}

export interface Sealed {
  readonly body: Buffer
  /** What is sealed in the data of an answer; undefined when there is none. */
  opened(answer: string): unknown
}

/** Bytes of plain JSON that fit into a sealed body of so many bytes. */
export const plainIn = (bytes: number): number => (bytes >> 1) - 8192

/** Any text, be it JSON or not, sealed for one key: nothing here holds it to a shape. */
export const sealedFor = (key: EnclaveKey, text: Uint8Array, { params, parts, beside }: Envelope): Sealed => {
  const { cipherText, sharedSecret } = encapsulate(kem, key.publicKey)
  const sealed = (bytes: Uint8Array, field: string, nonceField: string) => {
    const nonce = randomBytes(24)
    return { [field]: hexOf(aead.seal(sharedSecret, nonce, bytes)), [nonceField]: hexOf(nonce) }
  }
  const body = {
    ...beside,
    ...sealed(text, params, 'nonce'),
    ...Object.assign({}, ...Object.entries(parts).map(([field, { nonce, bytes }]) => sealed(bytes, field, nonce))),
    cipherText: hexOf(cipherText),
    enclaveKid: enclaveKid(key),
  }
  return {
    body: Buffer.from(JSON.stringify(body), 'latin1'),
    opened(answer) {
      const { data } = JSON.parse(answer) as { readonly data?: Readonly<Record<string, string>> | null }
      const { encryptedResponse, nonce } = data ?? {}
      if (encryptedResponse === undefined || nonce === undefined) return undefined
      return openJson(sharedSecret, fromHex(nonce, 24)!, fromHex(encryptedResponse, 1 << 26)!)
    },
  }
}
