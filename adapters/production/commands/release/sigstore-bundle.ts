import type { OptionValues } from '../../../local/option-values.ts'
import { readFile, stat } from 'node:fs/promises'
import * as v from 'valibot'
import { optionalPackage } from '../../../../plugins/shared/optional-package.ts'
import { sha256 } from './provenance.ts'

/** The reasons for which a bundle is refused, each with its sentence. */
export const bundleReasons = {
  bundle_malformed: 'The Sigstore bundle is not in a form that counts',
  bundle_untrusted: 'No authority of the trusted root issued the certificate of the bundle in its time',
  bundle_unlogged: 'No log of the trusted root vouches for the signature of the bundle',
  bundle_unsigned: 'The signature of the bundle does not hold',
  bundle_of_other_identity: 'Another identity signed the bundle',
  bundle_of_other_issuer: 'Another issuer vouches for the identity of the bundle',
  bundle_of_other_statement: 'The statement of the bundle is no provenance of SLSA 1',
  bundle_of_other_subject: 'The bundle is about another file',
  bundle_of_other_commit: 'The statement of the bundle names another commit',
} as const

/** The word that `--json` prints; programs may depend on it. */
export type BundleReason = keyof typeof bundleReasons

/** A refused bundle. The message never quotes it. */
export class BundleRefusal extends Error {
  readonly reason: BundleReason

  constructor(reason: BundleReason, cause?: unknown) {
    super(bundleReasons[reason], { cause })
    this.name = 'BundleRefusal'
    this.reason = reason
  }
}

/** Throws a BundleRefusal with this reason. */
const insist = (holds: boolean, reason: BundleReason): void => {
  if (!holds) throw new BundleRefusal(reason)
}

/** A bundle, with the identity and the issuer that have to stand behind it. */
export interface AskedBundle {
  readonly text: string
  /** The subject of the certificate, letter for letter: an address of a workflow or of mail. */
  readonly identity: string
  /** The issuer of the login, letter for letter. */
  readonly issuer: string
  /** Authorities and logs, as Sigstore writes them in JSON. */
  readonly trustedRoot: string
}

/** The facts of a bundle that holds. */
export interface BundleFacts {
  readonly identity: string
  readonly issuer: string
  /** The commits that its statement names; null for a signature over the bytes alone. */
  readonly commits: readonly string[] | null
}

/** The four options belong together: a bundle counts only under a named identity and issuer. */
export const bundleOptions = {
  bundle: { type: 'string' },
  identity: { type: 'string' },
  issuer: { type: 'string' },
  'trusted-root': { type: 'string' },
} as const

/** The options of the command line for a bundle. */
export type BundleOptions = OptionValues<typeof bundleOptions>

/** Bytes of a bundle and of a trusted root; both take a few thousand. */
const mostBytes = 1024 * 1024

const textIn = async (file: string, option: string): Promise<string> => {
  if ((await stat(file)).size > mostBytes) throw new Error(`${option} names a file of more than 1 MiB`)
  return readFile(file, 'utf8')
}

/** The bundle that the command line names; null without one. Throws where only some of its options stand there. */
export const askedBundle = async (options: BundleOptions): Promise<AskedBundle | null> => {
  const { bundle, identity, issuer, 'trusted-root': root } = options
  if ([bundle, identity, issuer, root].every((option) => option === undefined)) return null
  if (!bundle || !identity || !issuer || !root)
    throw new Error('--bundle FILE, --identity, --issuer and --trusted-root FILE belong together')
  const [text, trustedRoot] = [await textIn(bundle, '--bundle'), await textIn(root, '--trusted-root')]
  return { text, identity, issuer, trustedRoot }
}

/** The packages that read and verify bundles. Throws Unconfigured with the command that installs them. */
const sigstore = async () => ({
  ...(await optionalPackage('@sigstore/bundle', () => import('@sigstore/bundle'))),
  ...(await optionalPackage('@sigstore/protobuf-specs', () => import('@sigstore/protobuf-specs'))),
  ...(await optionalPackage('@sigstore/verify', () => import('@sigstore/verify'))),
})
type Sigstore = Awaited<ReturnType<typeof sigstore>>

/** Throws `bundle_malformed` for a text that is no JSON. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new BundleRefusal('bundle_malformed', cause)
  }
}

/** A bad trusted root is a fault of the operator's file, not of the bundle, and so no BundleRefusal. */
const trustIn = ({ TrustedRoot, toTrustMaterial }: Sigstore, text: string) => {
  try {
    return toTrustMaterial(TrustedRoot.fromJSON(JSON.parse(text)))
  } catch (cause) {
    throw new Error('--trusted-root holds no trusted root of Sigstore', { cause })
  }
}

/** The library takes the names in a checkpoint for patterns, so none of them may hold a sign of one. */
const namesIn = (envelope: string): readonly string[] =>
  [...envelope.matchAll(/\u2014 (\S+)/g)].map(([, name]) => name ?? '')

const readBundle = ({ bundleFromJSON }: Sigstore, text: string) => {
  const json = parsed(text)
  try {
    return bundleFromJSON(json)
  } catch (cause) {
    throw new BundleRefusal('bundle_malformed', cause)
  }
}

/** By the beginning of the library's codes, so that a new code of the same group keeps its meaning. */
const reasonOf = (code: string): BundleReason => {
  if (code.startsWith('CERTIFICATE_') || code.startsWith('PUBLIC_KEY_')) return 'bundle_untrusted'
  if (code.startsWith('TLOG_') || code.startsWith('TIMESTAMP_')) return 'bundle_unlogged'
  return code.startsWith('SIGNATURE_') ? 'bundle_unsigned' : 'bundle_malformed'
}

/** Throws unless the signature, its certificate and its entry in a log hold. Returns the identity of the signer. */
const signerOf = (library: Sigstore, bundle: ReturnType<typeof readBundle>, trust: string, artifact: Buffer) => {
  const material = trustIn(library, trust)
  for (const { inclusionProof } of bundle.verificationMaterial.tlogEntries) {
    const names = namesIn(inclusionProof?.checkpoint?.envelope ?? '')
    insist(
      names.every((name) => /^[\w.:/-]+$/.test(name)),
      'bundle_malformed',
    )
  }
  try {
    return new library.Verifier(material).verify(library.toSignedEntity(bundle, artifact)).identity
  } catch (cause) {
    // Every other error comes from a reader of the library, about bytes of a stranger.
    throw new BundleRefusal(
      cause instanceof library.VerificationError ? reasonOf(cause.code) : 'bundle_malformed',
      cause,
    )
  }
}

const digests = v.optional(v.record(v.string(), v.string()), {})
const Statement = v.object({
  _type: v.picklist(['https://in-toto.io/Statement/v1', 'https://in-toto.io/Statement/v0.1']),
  subject: v.array(v.object({ digest: digests })),
  predicateType: v.string(),
  predicate: v.unknown(),
})
/** The part of SLSA 1 that names the sources; everything else is the builder's matter. */
const Predicate = v.object({
  buildDefinition: v.object({ resolvedDependencies: v.optional(v.array(v.object({ digest: digests })), []) }),
})

/** The commits that the statement names. Throws unless it is a provenance of SLSA 1 about the artifact. */
const commitsIn = (payloadType: string, payload: Buffer, artifact: Buffer): readonly string[] => {
  insist(payloadType === 'application/vnd.in-toto+json', 'bundle_malformed')
  const statement = v.safeParse(Statement, parsed(payload.toString()))
  if (!statement.success) throw new BundleRefusal('bundle_malformed')
  const { subject, predicateType, predicate } = statement.output
  insist(predicateType === 'https://slsa.dev/provenance/v1', 'bundle_of_other_statement')
  const digest = sha256(artifact)
  insist(
    subject.some((subject) => subject.digest['sha256'] === digest),
    'bundle_of_other_subject',
  )
  const provenance = v.safeParse(Predicate, predicate)
  if (!provenance.success) throw new BundleRefusal('bundle_of_other_statement')
  const { resolvedDependencies } = provenance.output.buildDefinition
  return resolvedDependencies.flatMap(({ digest }) => digest['gitCommit'] ?? [])
}

/** Throws unless this identity signed the artifact itself or a provenance about it, as a log of the trusted root shows. */
export const checkBundle = async (given: AskedBundle, artifact: Buffer): Promise<BundleFacts> => {
  const library = await sigstore()
  const bundle = readBundle(library, given.text)
  if (bundle.content.$case === 'messageSignature') {
    // The library takes this digest from the bundle, and reads the artifact only for the signature.
    const { digest } = bundle.content.messageSignature.messageDigest
    insist(digest.toString('hex') === sha256(artifact), 'bundle_of_other_subject')
  }
  const signer = signerOf(library, bundle, given.trustedRoot, artifact)
  const { identity, issuer } = given
  insist(signer?.subjectAlternativeName === identity, 'bundle_of_other_identity')
  insist(signer?.extensions?.issuer === issuer, 'bundle_of_other_issuer')
  if (bundle.content.$case === 'messageSignature') return { identity, issuer, commits: null }
  const { payloadType, payload } = bundle.content.dsseEnvelope
  return { identity, issuer, commits: commitsIn(payloadType, payload, artifact) }
}

/** One line for a person, behind the `✓` of its caller. */
export const bundleLine = ({ identity, issuer }: BundleFacts): string =>
  `Sigstore: ${identity} signed it, vouched for by ${issuer}, and a log of the trusted root shows it`
