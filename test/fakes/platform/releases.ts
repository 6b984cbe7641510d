import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import type { SignedText } from '../../../plugins/sealed/evidence/policy.ts'

export interface ReleaseSigner {
  /** Hex. */
  readonly key: string
  readonly secret: KeyObject
}

export const releaseSigner = (): ReleaseSigner => {
  const { privateKey: secret } = generateKeyPairSync('ed25519')
  const info = createPublicKey(createPrivateKey(secret.export({ type: 'pkcs8', format: 'pem' }))).export({
    type: 'spki',
    format: 'der',
  })
  return { key: info.subarray(-32).toString('hex'), secret }
}

/** The text of a list, signed by each of these keys. */
export const signedList = (
  document: object | string,
  signers: readonly ReleaseSigner[],
  format = 'sealgate-releases/1',
): SignedText => {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  const data = Buffer.concat([Buffer.from(`${format}\0`), createHash('sha256').update(text).digest()])
  return {
    text,
    signatures: signers.map(({ key, secret }) => ({ key, signature: sign(null, data, secret).toString('hex') })),
  }
}
