import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { nameOf } from './lock.ts'
import type { Source } from './source.ts'

/** What the signatures of a statement say before its hash. */
export const provenanceFormat = 'sealgate-provenance/1'

/** The page that describes this kind of build. */
const buildType = 'pkg:npm/sealgate#docs/evidence.md'

/** In hex, as in-toto writes digests. */
export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

/** The names of a release's files in its folder. */
export const filesOf = (name: string, version: string) => {
  const stem = `${name.replace('@', '').replace('/', '-')}-${version}`
  return {
    package: `${stem}.tgz`,
    bill: `${stem}.cdx.json`,
    provenance: `${stem}.intoto.json`,
    releases: 'releases.json',
  } as const
}

/** The subject that names what an enclave of this release says in its keyset. */
export const digestSubject = 'release-digest'

/** Everything that the statement names; the same values give the same text. */
interface Made {
  readonly source: Source
  readonly builder: string
  readonly package: Uint8Array
  readonly bill: string
  /** Of the configuration, in hex. */
  readonly digest: string
  readonly tools: { readonly node: string; readonly npm: string }
}

/** A statement of in-toto with the provenance of SLSA 1: what was built, of which bytes, with which tools. */
export const provenanceOf = ({ source, builder, package: tarball, bill, digest, tools }: Made): string => {
  const { name, version, commit, shrinkwrap, packages } = source
  const files = filesOf(name, version)
  const build = Object.entries(packages).filter(([path, { dev, devOptional }]) => path !== '' && (dev || devOptional))
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: files.package, digest: { sha256: sha256(tarball) } },
      { name: files.bill, digest: { sha256: sha256(bill) } },
      { name: digestSubject, digest: { sha256: digest } },
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType,
        externalParameters: { package: name, version },
        internalParameters: tools,
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'npm-shrinkwrap.json', digest: { sha256: sha256(shrinkwrap) } },
          ...build.map(([path, file]) => ({
            name: path,
            uri: `pkg:npm/${nameOf(path, file).replace('@', '%40')}@${file.version}`,
            digest: { sha512: Buffer.from(file.integrity!.slice('sha512-'.length), 'base64').toString('hex') },
          })),
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  }
  return `${JSON.stringify(statement, null, 2)}\n`
}

const sha = (length: number) => v.pipe(v.string(), v.regex(new RegExp(`^[0-9a-f]{${length}}$`)))

/** Members that this program does not write are dropped; the comparison of the whole text finds them. */
const Statement = v.object({
  _type: v.literal('https://in-toto.io/Statement/v1'),
  subject: v.array(v.object({ name: v.string(), digest: v.object({ sha256: sha(64) }) })),
  predicateType: v.literal('https://slsa.dev/provenance/v1'),
  predicate: v.object({
    buildDefinition: v.object({
      buildType: v.literal(buildType),
      externalParameters: v.strictObject({ package: v.string(), version: v.string() }),
      internalParameters: v.strictObject({ node: v.string(), npm: v.string() }),
      resolvedDependencies: v.array(v.object({ name: v.string(), digest: v.record(v.string(), v.string()) })),
    }),
    runDetails: v.object({ builder: v.object({ id: v.string() }) }),
  }),
})

/** A statement of the right form. Nothing of it is proven before its signatures are checked. */
export type Provenance = v.InferOutput<typeof Statement>

/** Null for any other text than a statement of this kind. */
export const readProvenance = (text: string): Provenance | null => {
  try {
    const read = v.safeParse(Statement, JSON.parse(text))
    return read.success ? read.output : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
