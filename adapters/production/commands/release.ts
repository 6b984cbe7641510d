import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { releasesFormat } from '../../../plugins/sealed/evidence/releases.ts'
import { endWith } from '../../local/error-text.ts'
import { filesOf, provenanceFormat } from './release/provenance.ts'
import { bundleOptions } from './release/sigstore-bundle.ts'
import { addSignature } from './release/signatures.ts'
import { verifyWhole } from './release/verify.ts'
import { writeWhole } from './release/write.ts'

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
