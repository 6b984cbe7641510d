import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readReleases } from '../../../../plugins/sealed/evidence/releases.ts'
import { checkSigned } from '../../../../plugins/sealed/evidence/signed.ts'
import { billOf } from './bill.ts'
import { configurationDigest } from './configuration-digest.ts'
import {
  type Provenance,
  digestSubject,
  filesOf,
  provenanceFormat,
  provenanceOf,
  readProvenance,
  sha256,
} from './provenance.ts'
import { refused } from './refused.ts'
import {
  type AskedBundle,
  type BundleOptions,
  BundleRefusal,
  askedBundle,
  bundleLine,
  checkBundle,
} from './sigstore-bundle.ts'
import { timeOf } from '../../../local/option-values.ts'
import { signaturesOf, signersOf } from './signatures.ts'
import { type Source, ownSource, packed, toolsOf, withSource } from './source.ts'

/** As the command line gives them. */
export type VerifyOptions = BundleOptions & { readonly source: string; readonly json: boolean } & Partial<
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
export const verifyWhole = async (folder: string, options: VerifyOptions): Promise<number> => {
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
