import { concat, utf8, fromHex } from '../wire/bytes.ts'
import { checkEd25519, digest } from './keys.ts'
import { Refusal, demand } from './reasons.ts'
import { hexOf, list, object } from './shape.ts'

/** Ed25519, in hex. */
export interface Signature {
  readonly key: string
  readonly signature: string
}

/** Reads up to 32 signatures; more would only cost time, since a policy names 16 keys at most. */
export const signatures = list(object({ key: hexOf(32), signature: hexOf(64) }), 0, 32)

/** The bytes that a key signs for a file of this format. */
export const signedBytes = async (format: string, file: string): Promise<Uint8Array> =>
  concat(utf8(`${format}\0`), await digest('SHA-256', utf8(file)))

/** Throws `releases_unsigned` unless `threshold` different pinned keys signed the file. */
export const checkSigned = async (
  format: string,
  file: string,
  made: readonly Signature[],
  { keys, threshold }: { readonly keys: readonly string[]; readonly threshold: number },
): Promise<void> => {
  const data = await signedBytes(format, file)
  const signers = new Set<string>()
  for (const { key, signature } of made) {
    if (!keys.includes(key) || signers.has(key)) continue
    try {
      await checkEd25519(fromHex(key, 32)!, fromHex(signature, 64)!, data, 'releases_unsigned')
      signers.add(key)
    } catch (error) {
      // An invalid signature is ignored; the other signatures may be enough.
      if (!(error instanceof Refusal && error.reason === 'releases_unsigned')) throw error
    }
  }
  demand(signers.size >= threshold, 'releases_unsigned')
}
