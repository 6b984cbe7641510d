import { createHash, randomBytes } from 'node:crypto'
import type { BackendEvidence, BackendProof, TlsForm } from '../../../core/ports/backend-evidence.ts'
import type { Answer, Clock, Door } from '../../../core/ports/platform.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import { unverified } from '../../../core/inference/proven.ts'
import { appraise } from '../../../plugins/sealed/evidence/appraise.ts'
import { demand } from '../../../plugins/sealed/evidence/reasons.ts'
import { concat, toHex } from '../../../plugins/sealed/wire/bytes.ts'
import type { BackendDemand, ProvenChannel } from './backend-demand.ts'
import { type Channel, openChannels } from '../network/channels.ts'
import type { UpstreamLine } from '../network/fetch-upstream.ts'

/** A line whose every connection ends in the key that the evidence binds. */
export interface VerifiedLine extends UpstreamLine {
  readonly proof: BackendProof
  /** In ms: the end of the evidence. */
  readonly ends: number
}

/** In bytes: the longest document; that of a service has evidence of GPUs, too. */
const mostDocument = { own: 512 * 1024, service: 4 * 1024 * 1024 }

/** Null unless the answer is a whole document of the backend. */
const documentOf = async ({ status, body, discard }: Answer, most: number): Promise<Uint8Array | null> => {
  if (status !== 200) {
    discard()
    return null
  }
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > most) throw new Error('The document of the backend is too long')
    parts.push(part)
  }
  return concat(...parts)
}

const fetched = async (door: Door, url: string, timeout: number, most: number): Promise<Uint8Array> => {
  const signal = AbortSignal.timeout(timeout)
  const again = true
  const document = await door(url, { method: 'GET', signal })
    .then((answer) => documentOf(answer, most))
    .catch((cause: unknown) => {
      throw signal.aborted ? new UpstreamFailed(undefined, { again, cause }) : cause
    })
  if (document === null) throw new UpstreamFailed(undefined, { again, cause: new Error('No document in the answer') })
  return document
}

interface Proven extends Pick<ProvenChannel, 'ends' | 'keys'> {
  readonly proof: BackendProof
  /** The same for each connection to the same backend. */
  readonly identity: string
}

/** Rejects unless the evidence binds this connection. Evidence of a key alone is for the profile `dev`. */
const provenByTls = async (
  { policy }: BackendDemand,
  { read }: TlsForm,
  document: Uint8Array,
  key: Uint8Array,
  exported: Uint8Array | null,
  question: { readonly challenge: Uint8Array; readonly now: number },
): Promise<ProvenChannel> => {
  const { evidence, subject, release, binds } = read(document, key, exported)
  demand(binds === 'channel' || policy.profile === 'dev', 'policy_refused', 'key alone')
  const verdict = await appraise(evidence, policy, { ...question, keysetHash: subject, releaseDigest: release })
  return { ...verdict, keys: [] }
}

/** Rejects unless the evidence over this connection holds. */
const provenChannel = async (
  wanted: BackendDemand,
  form: BackendEvidence,
  clock: Clock,
  { door, end }: Channel,
): Promise<Proven> => {
  const nonce = new Uint8Array(randomBytes(32))
  const isService = 'service' in form
  const most = isService ? mostDocument.service : mostDocument.own
  const document = await fetched(door, wanted.origin + form.place(nonce), wanted.timeout, most)
  const { key, exporter } = end()
  const question = { challenge: nonce, now: clock.now() }
  const { platform, measurement, ends, keys } = isService
    ? await (await import('./judged-document.ts')).judgedDocument(wanted, form, document, key, question)
    : await provenByTls(
        wanted,
        form,
        document,
        key,
        form.exporterLabel === undefined ? null : exporter(form.exporterLabel, nonce),
        question,
      )
  const digest = createHash('sha256').update(document).digest('hex')
  const identity = [toHex(key), measurement, ...keys.map((bound) => `${bound.use} ${bound.key}`)].join('\n')
  return { ends, keys, identity, proof: { kind: form.kind, digest, platform, measurement } }
}

/**
 * Opens a line to the backend. Each of its connections brings evidence of its own under a fresh nonce, for the same key and
 * image, before it carries a call. Throws UpstreamFailed without a document, and any other error when the first document
 * is refused. `tellMoved` is called once, when a later connection is refused or ends in another key.
 */
export const verifyBackend = async (
  wanted: BackendDemand,
  form: BackendEvidence,
  clock: Clock,
  tellMoved: () => void,
): Promise<VerifiedLine> => {
  let first: Proven | null = null
  let isMoved = false
  const move = (): void => {
    if (!isMoved) tellMoved()
    isMoved = true
  }
  const line = openChannels(wanted.origin, wanted.certificate === 'any', async (channel) => {
    if (first === null) {
      first = await provenChannel(wanted, form, clock, channel)
      return
    }
    const { identity } = first
    const next = await provenChannel(wanted, form, clock, channel).catch((cause: unknown) => {
      if (!(cause instanceof UpstreamFailed)) move()
      throw moved(cause)
    })
    if (identity === next.identity) return
    move()
    throw moved(new Error('The connection ends in another key'))
  })
  try {
    await line.open()
    if (first === null) throw new Error('No connection was verified')
    const { proof, ends, keys }: Proven = first
    // A service's evidence binds a key that several connections may share, so that bodies are sealed to a machine's own key.
    const door = 'service' in form ? form.sealed(line.door, keys) : line.door
    return { ...line, door, proof, ends }
  } catch (error) {
    await line.close()
    throw error
  }
}

/** A later connection that is refused: the call may go elsewhere. */
const moved = (cause: unknown): UpstreamFailed =>
  cause instanceof UpstreamFailed
    ? cause
    : new UpstreamFailed('The backend could not be verified', { code: unverified, again: true, cause })
