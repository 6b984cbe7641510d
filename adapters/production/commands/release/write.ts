import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ListingOptions, writeRelease } from '../write-releases.ts'
import { billOf } from './bill.ts'
import { configurationDigest } from './configuration-digest.ts'
import { filesOf, provenanceOf, sha256 } from './provenance.ts'
import { ownSource, packed, toolsOf, withSource } from './source.ts'

/** As the command line gives them. */
export type WriteOptions = { readonly source: string } & ListingOptions &
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
export const writeWhole = async (folder: string, options: WriteOptions): Promise<number> => {
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
