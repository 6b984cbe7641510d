import { createHash } from 'node:crypto'
import { cursor, onlyItem, tags } from '../../plugins/sealed/evidence/der.ts'
import { concat } from '../../plugins/sealed/wire/bytes.ts'
import {
  type CertificateParts,
  constraints,
  curveSigner,
  extension,
  keyUsage,
  makeCertificate,
} from './platform/certificates.ts'
import { der, octetString, sequence } from './platform/der.ts'

const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  createHash('sha256')
    .update(concat(...parts))
    .digest()
const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64')
const text = (text: string): Uint8Array => new TextEncoder().encode(text)
const big = (value: number, size: number): Uint8Array => {
  const bytes = Buffer.alloc(size)
  bytes.writeUIntBE(value, Math.max(0, size - 6), Math.min(size, 6))
  return bytes
}

const day = 86_400_000
/** When everything below is signed; a bundle counts by the time of its log, never by the clock of a test. */
export const signedAt = Date.parse('2026-06-01T12:00:00Z')

type Key = ReturnType<typeof curveSigner>
const idOf = ({ info }: Key): Buffer => sha256(info)

/** A bundle as its JSON; a test changes what it likes. */
export type BundleJson = any

export interface BundleParts {
  readonly artifact: Uint8Array
  /** Signs the bytes themselves, without a statement. */
  readonly plain?: boolean
  readonly statement?: object
  readonly payloadType?: string
  readonly identity?: string
  readonly issuer?: string
  /** When the certificate of the signer ends. */
  readonly ends?: number
  /** The bytes that are signed in place of the artifact or its statement. */
  readonly signs?: Uint8Array
  /** A certificate that no log of certificates has seen. */
  readonly unseen?: boolean
  /** What is changed after everything was signed. */
  readonly change?: (bundle: BundleJson) => void
}

export const someone = 'https://github.com/example/sealgate/.github/workflows/release.yml@refs/tags/v1'
export const someIssuer = 'https://token.actions.githubusercontent.com'
export const someCommit = 'ab'.repeat(20)

/** A provenance of SLSA 1 about the artifact, from a commit. */
export const provenanceAbout = (artifact: Uint8Array, commit = someCommit): object => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name: 'it', digest: { sha256: sha256(artifact).toString('hex') } }],
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {
    buildDefinition: {
      buildType: 'https://example.org/build',
      externalParameters: {},
      resolvedDependencies: [{ uri: 'git+https://example.org/it', digest: { gitCommit: commit } }],
    },
    runDetails: { builder: { id: 'https://example.org/builder' } },
  },
})

/** The certificate of a signer, seen by a log of certificates: the log signs what the authority will sign without its word. */
const certified = (parts: CertificateParts, log: Key): Uint8Array => {
  const bare = cursor(onlyItem(makeCertificate(parts), tags.sequence).content).take(tags.sequence).whole
  const time = big(signedAt, 8)
  const entry = concat(sha256(parts.by.info), big(bare.length, 3), bare)
  const signature = log.sign(concat(Uint8Array.of(0, 0), time, big(1, 2), entry, big(0, 2)))
  const word = concat(
    Uint8Array.of(0),
    idOf(log),
    time,
    big(0, 2),
    Uint8Array.of(4, 3),
    big(signature.length, 2),
    signature,
  )
  const list = concat(big(word.length + 2, 2), big(word.length, 2), word)
  const seen = extension('1.3.6.1.4.1.11129.2.4.2', octetString(list))
  return makeCertificate({ ...parts, extensions: [...parts.extensions, seen] })
}

const envelope = (payloadType: string, payload: Uint8Array): Uint8Array =>
  concat(text(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload)

/** A Sigstore of the test: an authority, a log of certificates, a log of signatures, and whole bundles of them. */
export const sigstoreOf = () => {
  const [authority, seen, log, leaf] = [
    curveSigner('p256'),
    curveSigner('p256'),
    curveSigner('p256'),
    curveSigner('p256'),
  ]
  const root = makeCertificate({
    ...{ issuer: 'authority', subject: 'authority', key: authority, by: authority },
    ...{ notBefore: signedAt - 900 * day, notAfter: signedAt + 900 * day, extensions: [constraints(), keyUsage(0x04)] },
  })
  const certificate = ({ identity = someone, issuer = someIssuer, ends = signedAt + 300_000, unseen }: BundleParts) => {
    const parts = {
      ...{ issuer: 'authority', subject: 'signer', key: leaf, by: authority },
      ...{ notBefore: signedAt - 600_000, notAfter: ends },
      extensions: [
        extension('2.5.29.17', sequence(der(0x86, text(identity))), true),
        extension('1.3.6.1.4.1.57264.1.8', der(0x0c, text(issuer))),
      ],
    }
    return unseen === true ? makeCertificate(parts) : certified(parts, seen)
  }

  /** The second entry of a log with two. */
  const logged = (kind: string, spec: object) => {
    const body = text(JSON.stringify({ apiVersion: '0.0.1', kind, spec }))
    const [first, own] = [sha256(Uint8Array.of(0), text('another entry')), sha256(Uint8Array.of(0), body)]
    const note = `log.example.org\n2\n${base64(sha256(Uint8Array.of(1), first, own))}\n`
    const time = signedAt / 1000
    const word = { body: base64(body), integratedTime: time, logID: idOf(log).toString('hex'), logIndex: 1 }
    return {
      ...{ logIndex: '1', logId: { keyId: base64(idOf(log)) }, kindVersion: { kind, version: '0.0.1' } },
      ...{ integratedTime: String(time), canonicalizedBody: base64(body) },
      inclusionPromise: { signedEntryTimestamp: base64(log.sign(text(JSON.stringify(word)))) },
      inclusionProof: {
        ...{ logIndex: '1', treeSize: '2', hashes: [base64(first)], rootHash: '' },
        checkpoint: {
          envelope: `${note}\n\u2014 log.example.org ${base64(concat(idOf(log).subarray(0, 4), log.sign(text(note))))}\n`,
        },
      },
    }
  }

  const content = (parts: BundleParts) => {
    const { artifact, plain, signs, statement = provenanceAbout(artifact) } = parts
    const { payloadType = 'application/vnd.in-toto+json' } = parts
    if (plain === true) {
      const [signature, digest] = [base64(leaf.sign(signs ?? artifact)), sha256(artifact)]
      const spec = {
        signature: { content: signature },
        data: { hash: { algorithm: 'sha256', value: digest.toString('hex') } },
      }
      const messageSignature = { messageDigest: { algorithm: 'SHA2_256', digest: base64(digest) }, signature }
      return { content: { messageSignature }, entry: logged('hashedrekord', spec) }
    }
    const payload = text(JSON.stringify(statement))
    const signature = base64(leaf.sign(signs ?? envelope(payloadType, payload)))
    const dsseEnvelope = { payload: base64(payload), payloadType, signatures: [{ sig: signature }] }
    const payloadHash = { algorithm: 'sha256', value: sha256(payload).toString('hex') }
    return { content: { dsseEnvelope }, entry: logged('dsse', { payloadHash, signatures: [{ signature }] }) }
  }

  const bundle = (parts: BundleParts): string => {
    const { content: signed, entry } = content(parts)
    const whole: BundleJson = {
      mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      verificationMaterial: { certificate: { rawBytes: base64(certificate(parts)) }, tlogEntries: [entry] },
      ...signed,
    }
    parts.change?.(whole)
    return JSON.stringify(whole)
  }

  const logKey = (key: Key) => ({
    ...{ baseUrl: 'https://log.example.org', hashAlgorithm: 'SHA2_256', logId: { keyId: base64(idOf(key)) } },
    publicKey: {
      ...{ rawBytes: base64(key.info), keyDetails: 'PKIX_ECDSA_P256_SHA_256' },
      validFor: { start: new Date(signedAt - 900 * day).toISOString() },
    },
  })
  const trustedRoot = (change: (root: BundleJson) => void = () => {}): string => {
    const whole = {
      mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
      tlogs: [logKey(log)],
      certificateAuthorities: [
        {
          certChain: { certificates: [{ rawBytes: base64(root) }] },
          validFor: { start: new Date(signedAt - 900 * day).toISOString() },
        },
      ],
      ctlogs: [logKey(seen)],
      timestampAuthorities: [],
    }
    change(whole)
    return JSON.stringify(whole)
  }
  return { bundle, trustedRoot }
}
