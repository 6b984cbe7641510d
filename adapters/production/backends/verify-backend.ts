import { createHash, randomBytes } from 'node:crypto'
import type { BackendEvidence, BackendProof } from '../../../core/ports/backend-evidence.ts'
import type { Answer, Clock, Door } from '../../../core/ports/platform.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import { appraise } from '../../../core/sealed/evidence/appraise.ts'
import type { PlatformPolicy } from '../../../core/sealed/evidence/policy.ts'
import { concat, same } from '../../../core/sealed/wire/bytes.ts'
import { type UpstreamLine, openUpstream } from '../network/fetch-upstream.ts'

/** What an upstream demands of its backend. */
export interface BackendDemand {
  /** The only origin that the upstream may reach. */
  readonly origin: string
  readonly policy: PlatformPolicy
  readonly certificate: 'authority' | 'any'
  /** In ms. */
  readonly renew: number
  readonly timeout: number
}

/** A line whose every connection ends in the key that the evidence binds. */
export interface VerifiedLine extends UpstreamLine {
  readonly proof: BackendProof
  /** In ms: the end of the evidence. */
  readonly ends: number
  /** True after the backend showed another key. */
  isMoved(): boolean
}

/** In bytes: the longest document. */
const mostDocument = 512 * 1024

/** Null unless the answer is a whole document of the backend. */
const documentOf = async ({ status, body, discard }: Answer): Promise<Uint8Array | null> => {
  if (status !== 200) {
    discard()
    return null
  }
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > mostDocument) throw new Error('The document of the backend is too long')
    parts.push(part)
  }
  return concat(...parts)
}

const asked = async (door: Door, url: string, timeout: number): Promise<Uint8Array> => {
  const signal = AbortSignal.timeout(timeout)
  const again = true
  const document = await door(url, { method: 'GET', signal })
    .then(documentOf)
    .catch((cause: unknown) => {
      throw signal.aborted ? new UpstreamFailed(undefined, { again, cause }) : cause
    })
  if (document === null) throw new UpstreamFailed(undefined, { again, cause: new Error('No document in the answer') })
  return document
}

/**
 * Asks the backend for evidence under a fresh nonce, over a line that takes connections of one key alone. Throws
 * UpstreamFailed without a document, and any other error when the document is refused.
 */
export const verifyBackend = async (
  { origin, policy, certificate, timeout }: BackendDemand,
  form: BackendEvidence,
  clock: Clock,
): Promise<VerifiedLine> => {
  let key: Uint8Array | null = null
  let isMoved = false
  const line = openUpstream({
    anyCertificate: certificate === 'any',
    isPeer(found) {
      key ??= found
      isMoved ||= !same(key, found)
      return same(key, found)
    },
  })
  try {
    const nonce = new Uint8Array(randomBytes(32))
    const document = await asked(line.door, origin + form.place(nonce), timeout)
    if (key === null) throw new Error('The connection has no key')
    const { evidence, subject, release } = form.read(document, key)
    const question = { keysetHash: subject, challenge: nonce, releaseDigest: release, now: clock.now() }
    const { platform, measurement, ends } = await appraise(evidence, policy, question)
    const digest = createHash('sha256').update(document).digest('hex')
    return { ...line, proof: { kind: form.kind, digest, platform, measurement }, ends, isMoved: () => isMoved }
  } catch (error) {
    await line.close()
    throw error
  }
}
