import { same, toHex } from '../wire/bytes.ts'
import { type Certificate, usages } from './certificate.ts'
import { checkSignature, digest } from './keys.ts'
import { demand } from './reasons.ts'

/** In ms: the tolerated difference between clocks. */
export const clockSkewMs = 5 * 60_000

/** `below`: the number of authorities between this issuer and the leaf. */
const checkIssuer = (issuer: Certificate, below: number): void => {
  demand(issuer.authority, 'chain_broken', 'an issuer is no authority')
  demand(issuer.usage === null || (issuer.usage & usages.sign) !== 0, 'chain_broken', 'an issuer may not sign')
  demand(issuer.pathLength === null || below <= issuer.pathLength, 'chain_broken', 'path length')
}

/**
 * Throws unless each certificate, leaf first, was issued by the next one, and the last is a pinned root. Roots are
 * pinned by SHA-256 in hex.
 */
export const checkChain = async (
  chain: readonly Certificate[],
  roots: readonly string[],
  now: number,
): Promise<void> => {
  const [leaf, root] = [chain[0]!, chain.at(-1)!]
  // Only the hash identifies a root: an unknown root can carry any name and signature.
  demand(chain.length > 1 && roots.includes(toHex(await digest('SHA-256', root.whole))), 'root_unknown')
  for (const { notBefore, notAfter } of chain) {
    demand(notBefore <= now + clockSkewMs, 'certificate_expired', 'not valid yet')
    demand(now <= notAfter + clockSkewMs, 'certificate_expired', 'no longer valid')
  }
  demand(!leaf.authority, 'chain_broken', 'the leaf is an authority')
  for (const [at, certificate] of chain.slice(0, -1).entries()) {
    const issuer = chain[at + 1]!
    demand(same(certificate.issuer, issuer.subject), 'chain_broken', 'names')
    checkIssuer(issuer, at)
    const { algorithm, signature, signed } = certificate
    await checkSignature(issuer.key, algorithm, signature, signed, ['chain_broken', 'signature'])
  }
}
