import { type Kem, encapsulate } from '../wire/kem.ts'

type Agreed = ReturnType<typeof encapsulate>

/** By public key: the secret for the next request. */
const ready = new WeakMap<Uint8Array, Agreed>()
/** Keys whose next secret is being made; one at a time, so that many requests start no queue of them. */
const begun = new WeakSet<Uint8Array>()

/**
 * A new shared secret with the owner of a public key. The next secret is made while the client waits for an answer, since
 * an agreement takes longer than the rest of a seal. No secret is given twice.
 */
export const agreeAhead = (kem: Kem, publicKey: Uint8Array): Agreed => {
  const agreed = ready.get(publicKey) ?? encapsulate(kem, publicKey)
  ready.delete(publicKey)
  if (!begun.has(publicKey)) {
    begun.add(publicKey)
    setTimeout(() => {
      begun.delete(publicKey)
      ready.set(publicKey, encapsulate(kem, publicKey))
    }, 0)
  }
  return agreed
}
