import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { type Signature, signedBytes } from '../../../../plugins/sealed/evidence/signed.ts'

/** The signatures in FILE.sig; none when there is no such file. */
export const signaturesOf = async (file: string): Promise<readonly Signature[]> => {
  const text = await readFile(`${file}.sig`, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return '[]'
    throw cause
  })
  const made: unknown = JSON.parse(text)
  const isWhole = (signature: Partial<Signature>) =>
    /^[0-9a-f]{64}$/.test(signature?.key ?? '') && /^[0-9a-f]{128}$/.test(signature?.signature ?? '')
  if (!Array.isArray(made) || !made.every(isWhole)) throw new Error('the file of signatures is damaged')
  return made as readonly Signature[]
}

/** Puts a signature into FILE.sig, beside those of other keys. The key that signed, in hex. */
export const addSignature = async (format: string, file: string, signer: string | undefined): Promise<string> => {
  if (signer === undefined) throw new Error('--signer is needed: a file with a key of Ed25519 in PEM')
  const secret = createPrivateKey(await readFile(signer))
  if (secret.asymmetricKeyType !== 'ed25519') throw new Error('--signer holds no key of Ed25519')
  const key = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
  const signature = sign(null, await signedBytes(format, await readFile(file, 'utf8')), secret).toString('hex')
  const others = (await signaturesOf(file)).filter((signature) => signature.key !== key)
  await writeFile(`${file}.sig`, `${JSON.stringify([...others, { key, signature }])}\n`)
  return key
}

/** The keys that count and how many of them have to sign, as the command line names them. */
export const signersOf = (
  signers: string | undefined,
  threshold: string | undefined,
): { readonly keys: readonly string[]; readonly threshold: number } => {
  const keys = signers?.split(',').map((key) => key.trim().toLowerCase()) ?? []
  if (keys.length === 0 || !keys.every((key) => /^[0-9a-f]{64}$/.test(key)) || new Set(keys).size !== keys.length)
    throw new Error('--signers is a list of different keys in hex')
  const enough = threshold === undefined ? keys.length : Number(threshold)
  if (!(Number.isInteger(enough) && enough > 0 && enough <= keys.length))
    throw new Error('--threshold is a number of these keys')
  return { keys, threshold: enough }
}
