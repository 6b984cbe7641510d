import type { Algorithm } from './issuer-settings.ts'
import type { PublicKey } from './public-keys.ts'

/**
 * Whether the token was signed with this key by this algorithm, whatever else its header says. The library is loaded with
 * the first token of an issuer, and costs other gateways nothing.
 */
export const isSigned = async (token: string, { jwk }: PublicKey, algorithm: Algorithm): Promise<boolean> => {
  const { compactVerify } = await import('jose')
  try {
    await compactVerify(token, jwk, { algorithms: [algorithm] })
    return true
  } catch {
    // Whatever the library has against a token or a key, nothing is proved.
    return false
  }
}
