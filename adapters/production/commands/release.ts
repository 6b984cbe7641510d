import { readFile, mkdir, writeFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { releasesFormat, readReleases } from '../../../plugins/sealed/evidence/releases.ts'
import { endWith } from '../../local/error-text.ts'
import {
  filesOf,
  provenanceFormat,
  provenanceOf,
  sha256,
  type Provenance,
  digestSubject,
  readProvenance,
} from './release/provenance.ts'
import {
  bundleOptions,
  type AskedBundle,
  type BundleOptions,
  BundleRefusal,
  askedBundle,
  bundleLine,
  checkBundle,
} from './release/sigstore-bundle.ts'
import { addSignature, signaturesOf, signersOf } from './release/signatures.ts'
import { type ListingOptions, writeRelease } from './write-releases.ts'
import { billOf } from './release/bill.ts'
import { configurationDigest } from './release/configuration-digest.ts'
import { ownSource, packed, toolsOf, withSource, type Source } from './release/source.ts'
import { checkSigned } from '../../../plugins/sealed/evidence/signed.ts'
import { refused } from './release/refused.ts'
import { timeOf } from '../../local/option-values.ts'

const options = {
  ...bundleOptions,
  source: { type: 'string', default: '.' },
  config: { type: 'string' },
  images: { type: 'string' },
  builder: { type: 'string' },
  name: { type: 'string' },
  days: { type: 'string' },
  at: { type: 'string' },
  signer: { type: 'string' },
  signers: { type: 'string' },
  threshold: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

/** `signer` is a file with a key of Ed25519 in PEM. */
interface SignOptions {
  readonly source: string
  readonly signer?: string | undefined
}

/** Signs the provenance and the list of the release that stands in the source. */
const sign = async (folder: string, { source, signer }: SignOptions): Promise<number> => {
  const { name, version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'))
  const files = filesOf(name, version)
  await addSignature(provenanceFormat, join(folder, files.provenance), signer)
  const key = await addSignature(releasesFormat, join(folder, files.releases), signer)
  process.stdout.write(`✓ signed with ${key}\n`)
  return 0
}

/** Resolves with the exit code: 0 when it holds, 1 when something is refused. A rejection becomes 2. */
const attempt = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [act, folder, ...more] = positionals
  if (folder === undefined || more.length > 0)
    throw new Error('sealgate release takes write, sign or verify, and one folder')
  if (act === 'write') return writeWhole(folder, values)
  if (act === 'sign') return sign(folder, values)
  if (act === 'verify') return verifyWhole(folder, values)
  throw new Error('sealgate release takes write, sign or verify, and one folder')
}

/** Makes, signs and verifies the files of a release. The process ends with 1 when one is refused, with 2 when it can't be looked at. */
export const release = (args: readonly string[]): Promise<void> => endWith(attempt(args))

/** As the command line gives them. */
type WriteOptions = { readonly source: string } & ListingOptions &
  Partial<Record<'config' | 'images' | 'builder', string | undefined>>

/** The images of a release and what they cover; the digest and the version come from the source. */
const imagesIn = async (file: string): Promise<object> => {
  const parsed: unknown = JSON.parse(await readFile(file, 'utf8'))
  if (
    typeof parsed !== 'object' ||
    parsed === null ||
    !('covers' in parsed) ||
    'digest' in parsed ||
    'version' in parsed
  )
    throw new Error('--images names a file with covers and images, without version and digest')
  return parsed
}

/** Builds the commit of a clone, and writes its package, bill of materials, provenance and list of releases. */
const writeWhole = async (folder: string, options: WriteOptions): Promise<number> => {
  const { source: clone, config, images, builder, ...listing } = options
  if (config === undefined) throw new Error('--config FILE is needed: the configuration of the enclave')
  if (images === undefined) throw new Error('--images FILE is needed: what is measured')
  if (builder === undefined || !URL.canParse(builder)) throw new Error('--builder URI is needed: who builds')
  const [entry, digest] = [await imagesIn(images), await configurationDigest(config)]
  return withSource(clone, async (found) => {
    const source = await ownSource(found)
    const files = filesOf(source.name, source.version)
    const [tarball, bill] = [await packed(source), billOf(source.packages)]
    await mkdir(folder, { recursive: true })
    const statement = provenanceOf({ source, builder, package: tarball, bill, digest, tools: await toolsOf(source) })
    await writeFile(join(folder, files.package), tarball)
    await writeFile(join(folder, files.bill), bill)
    await writeFile(join(folder, files.provenance), statement)
    await writeFile(join(folder, `${files.provenance}.sig`), '[]\n')
    process.stdout.write(`✓ ${files.package} ${sha256(tarball)}\n✓ release digest ${digest}\n`)
    const fresh = { ...entry, version: source.version, digest, state: 'current' }
    return writeRelease(join(folder, files.releases), fresh, listing)
  })
}

/** As the command line gives them. */
type VerifyOptions = BundleOptions & { readonly source: string; readonly json: boolean } & Partial<
    Record<'config' | 'signers' | 'threshold' | 'at', string | undefined>
  >

/** Something that a release says and that does not hold. */
class Mismatch extends Error {}

/** Throws a Mismatch, whose words are printed behind `✗`. */
const insist = (holds: boolean, otherwise: string): void => {
  if (!holds) throw new Mismatch(otherwise)
}

/** Bytes; a release is far smaller, and its files come from strangers. */
const mostBytes = 256 * 1024 * 1024

/** Throws a Mismatch for a file that is too large, before any of it is read. */
const bytesOf = async (file: string): Promise<Buffer> => {
  insist((await stat(file)).size <= mostBytes, 'a file of the release is too large')
  return readFile(file)
}

/** The options after their checks; `now` is in Unix ms. */
interface Asked {
  readonly folder: string
  readonly config: string
  readonly pinned: { readonly keys: readonly string[]; readonly threshold: number }
  readonly now: number
  readonly bundle: AskedBundle | null
}

/** Throws unless the bundle is about the package, and its statement about the commit. */
const bundleChecked = async (bundle: AskedBundle, tarball: Buffer, { commit }: Source): Promise<string> => {
  const facts = await checkBundle(bundle, tarball)
  if (facts.commits !== null && !facts.commits.includes(commit)) throw new BundleRefusal('bundle_of_other_commit')
  return bundleLine(facts)
}

/** The statement, when enough of the keys signed it. */
const signedStatement = async ({ folder, pinned }: Asked, file: string) => {
  const text = (await bytesOf(join(folder, file))).toString()
  await checkSigned(provenanceFormat, text, await signaturesOf(join(folder, file)), pinned)
  const statement = readProvenance(text)
  if (statement === null) throw new Mismatch('the provenance has another form')
  return { text, statement }
}

const subjectOf = ({ subject }: Provenance, name: string): string | undefined =>
  subject.find((subject) => subject.name === name)?.digest.sha256

/** Undefined where the statement names no source. */
const commitOf = ({ predicate }: Provenance): string | undefined =>
  predicate.buildDefinition.resolvedDependencies.find(({ name }) => name === 'source')?.digest['gitCommit']

/** The checks of a release in their order, each with what it shows. Building comes last: it runs what the others vouch for. */
async function* checksOf(source: Source, question: Asked): AsyncGenerator<string> {
  const { folder, config, pinned, now, bundle } = question
  const files = filesOf(source.name, source.version)
  const { text, statement } = await signedStatement(question, files.provenance)
  const { internalParameters: tools } = statement.predicate.buildDefinition
  const { id: builder } = statement.predicate.runDetails.builder
  yield `the provenance is signed by ${pinned.threshold} of these keys; it names ${builder} as its builder`

  const place = join(folder, files.releases)
  const list = { text: (await bytesOf(place)).toString(), signatures: await signaturesOf(place) }
  const { serial, releases } = await readReleases(list, pinned, now)
  const digest = subjectOf(statement, digestSubject)
  const listed = releases.find(({ version }) => version === source.version)
  if (listed === undefined || listed.digest !== digest) throw new Mismatch('the list of releases has another digest')
  insist(listed.state !== 'withdrawn', 'the release is withdrawn')
  yield `list ${serial} is signed and names release ${source.version} (${listed.state})`

  const tarball = await bytesOf(join(folder, files.package))
  const bill = (await bytesOf(join(folder, files.bill))).toString()
  insist(
    sha256(tarball) === subjectOf(statement, files.package),
    'the package is another one than the provenance names',
  )
  insist(
    sha256(bill) === subjectOf(statement, files.bill),
    'the bill of materials is another one than the provenance names',
  )
  yield `package and bill of materials are those of the provenance`
  if (bundle !== null) yield await bundleChecked(bundle, tarball, source)

  insist(
    commitOf(statement) === source.commit,
    `the source is at another commit: the release is of ${commitOf(statement)}`,
  )
  insist(billOf(source.packages) === bill, 'the source locks other packages than the bill of materials names')
  yield `the bill of materials is that of commit ${source.commit}`

  insist((await configurationDigest(config)) === digest, 'the configuration has another digest')
  yield `the configuration has the release digest ${digest}`

  const own = await packed(source)
  const here = await toolsOf(source)
  const tried = `built with Node ${tools.node} and npm ${tools.npm}, and here with Node ${here.node} and npm ${here.npm}`
  insist(sha256(own) === sha256(tarball), `the source gives another package; it was ${tried}`)
  const again = provenanceOf({ source, builder, package: own, bill, digest: listed.digest, tools })
  insist(again === text, 'the provenance says more than the source shows')
  yield `the source gives the same package, ${sha256(own)}`
}

/** Shows whether a release is what its source gives, and who signed it. 0 when it is, 1 when it is not. */
const verifyWhole = async (folder: string, options: VerifyOptions): Promise<number> => {
  const { source: clone, config, signers, threshold, at, json } = options
  if (config === undefined) throw new Error('--config FILE is needed: the configuration of the enclave')
  const bundle = await askedBundle(options)
  const question = { folder, config, pinned: signersOf(signers, threshold), now: timeOf(at), bundle }
  const held: string[] = []
  const failed = await withSource(clone, async (found) => {
    try {
      for await (const line of checksOf(await ownSource(found), question)) held.push(line)
      return null
    } catch (error) {
      if (error instanceof Mismatch) return error.message
      const why = refused(error)
      if (why === null) throw error
      return `${why.sentence}: ${why.reason}`
    }
  })
  const lines = [...held.map((line) => `✓ ${line}`), ...(failed === null ? [] : [`✗ ${failed}`])]
  const sentence = json ? JSON.stringify({ verified: failed === null, held, refused: failed }) : lines.join('\n')
  process.stdout.write(`${sentence}\n`)
  return failed === null ? 0 : 1
}
