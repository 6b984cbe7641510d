import { readFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { releasesFormat } from '../../../plugins/sealed/evidence/releases.ts'
import { endWith } from '../../local/error-text.ts'
import { filesOf, provenanceFormat, provenanceOf, sha256 } from './release/provenance.ts'
import { bundleOptions } from './release/sigstore-bundle.ts'
import { addSignature } from './release/signatures.ts'
import { verifyWhole } from './release/verify.ts'
import { type ListingOptions, writeRelease } from './write-releases.ts'
import { billOf } from './release/bill.ts'
import { configurationDigest } from './release/configuration-digest.ts'
import { ownSource, packed, toolsOf, withSource } from './release/source.ts'

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
