import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type OptionValues, timeOf } from '../../local/option-values.ts'
import { configurationDigest } from './release/configuration-digest.ts'
import { refused } from './release/refused.ts'
import { askedBundle, bundleLine, bundleOptions, checkBundle } from './release/sigstore-bundle.ts'
import { addSignature, signaturesOf, signersOf } from './release/signatures.ts'
import { entryIn, writeRelease } from './write-releases.ts'
import { type Releases, readReleases, releasesFormat } from '../../../plugins/sealed/evidence/releases.ts'

const options = {
  ...bundleOptions,
  signers: { type: 'string' },
  threshold: { type: 'string' },
  signer: { type: 'string' },
  at: { type: 'string' },
  release: { type: 'string' },
  name: { type: 'string' },
  days: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

/** The day in UTC, as `2030-01-31`. */
const day = (time: number): string => new Date(time).toISOString().slice(0, 10)
const show = (lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`)

const linesOf = ({ name, serial, ends, releases }: Releases): readonly string[] => [
  `✓ ${name}, list ${serial}, until ${day(ends)}`,
  ...releases.map(({ version, state, digest, until, covers, images }) => {
    const limited = until === undefined ? '' : ` until ${day(until)}`
    const platforms = [...new Set(images.map(({ platform }) => platform))].join(', ')
    return `${state === 'withdrawn' ? '✗' : '✓'} ${version} ${state}${limited}, ${digest.slice(0, 16)}…, ${platforms}; covers ${covers}`
  }),
]

type ReleaseOptions = OptionValues<typeof options> & { readonly json: boolean }

/** Resolves with 0 when the list counts, and with 1 when it is refused. */
const check = async (file: string, { signers, threshold, at, json, ...rest }: ReleaseOptions): Promise<number> => {
  const [pinned, now, given] = [signersOf(signers, threshold), timeOf(at), await askedBundle(rest)]
  const bytes = await readFile(file)
  const signed = { text: bytes.toString(), signatures: await signaturesOf(file) }
  try {
    const list = await readReleases(signed, pinned, now)
    const bundle = given === null ? null : await checkBundle(given, bytes)
    const sentence = bundle === null ? list : { ...list, bundle }
    show(
      json ? [JSON.stringify(sentence)] : [...linesOf(list), ...(bundle === null ? [] : [`✓ ${bundleLine(bundle)}`])],
    )
    return 0
  } catch (error) {
    const why = refused(error)
    if (why === null) throw error
    const { reason, detail, sentence } = why
    show([json ? JSON.stringify({ refused: reason, detail }) : `✗ ${sentence}: ${reason}`])
    return 1
  }
}

const signWith = async (file: string, signer: string | undefined): Promise<number> => {
  show([`✓ signed with ${await addSignature(releasesFormat, file, signer)}`])
  return 0
}

const digestOf = async (file: string): Promise<number> => {
  show([await configurationDigest(file)])
  return 0
}

/** Each act resolves with the exit code. */
const acts: Readonly<Record<string, (file: string, values: ReleaseOptions) => Promise<number>>> = {
  check,
  sign: (file, { signer }) => signWith(file, signer),
  digest: digestOf,
  write: async (file, { release, ...rest }) => {
    if (release === undefined) throw new Error('--release FILE is needed: the release to list')
    return writeRelease(file, await entryIn(release), rest)
  },
}

/** Signs a list of releases, or shows its content and whether enough keys signed it. */
export const releases = async (args: readonly string[]): Promise<void> => {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [act, file, ...more] = positionals
  const run = act !== undefined && Object.hasOwn(acts, act) ? acts[act] : undefined
  if (file === undefined || more.length > 0 || run === undefined)
    throw new Error('sealgate releases takes digest, write, sign or check, and one file')
  process.exitCode = await run(file, values)
}
