import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { checkedConfig } from '../config/config.ts'
import { releaseDigest } from '../config/release-digest.ts'
import { variablesIn } from '../config/variables.ts'
import { parsed } from '../enclave/harden.ts'
import { writeRelease } from './write-releases.ts'
import { type Signature, signedBytes } from '../../../core/sealed/evidence/signed.ts'
import { reasons } from '../../../core/sealed/evidence/reason-words.ts'
import { Refusal } from '../../../core/sealed/evidence/reasons.ts'
import { type Releases, readReleases, releasesFormat } from '../../../core/sealed/evidence/releases.ts'

const options = {
  signers: { type: 'string' },
  threshold: { type: 'string' },
  signer: { type: 'string' },
  at: { type: 'string' },
  release: { type: 'string' },
  name: { type: 'string' },
  days: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

const day = (time: number): string => new Date(time).toISOString().slice(0, 10)
const show = (lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`)

const signaturesOf = async (file: string): Promise<readonly Signature[]> => {
  const said = await readFile(`${file}.sig`, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return '[]'
    throw cause
  })
  const made: unknown = JSON.parse(said)
  const isWhole = (it: Partial<Signature>) =>
    /^[0-9a-f]{64}$/.test(it?.key ?? '') && /^[0-9a-f]{128}$/.test(it?.signature ?? '')
  if (!Array.isArray(made) || !made.every(isWhole)) throw new Error('the file of signatures is damaged')
  return made as readonly Signature[]
}

const linesOf = ({ name, serial, ends, releases }: Releases): readonly string[] => [
  `✓ ${name}, list ${serial}, until ${day(ends)}`,
  ...releases.map(({ version, state, digest, until, covers, images }) => {
    const limited = until === undefined ? '' : ` until ${day(until)}`
    const platforms = [...new Set(images.map(({ platform }) => platform))].join(', ')
    return `${state === 'withdrawn' ? '✗' : '✓'} ${version} ${state}${limited}, ${digest.slice(0, 16)}…, ${platforms}; covers ${covers}`
  }),
]

interface ReleaseOptions {
  readonly signers?: string | undefined
  readonly threshold?: string | undefined
  readonly signer?: string | undefined
  readonly at?: string | undefined
  readonly release?: string | undefined
  readonly name?: string | undefined
  readonly days?: string | undefined
  readonly json: boolean
}

const check = async (file: string, { signers, threshold, at, json }: ReleaseOptions): Promise<number> => {
  const keys = signers?.split(',').map((it) => it.trim().toLowerCase()) ?? []
  if (keys.length === 0 || !keys.every((it) => /^[0-9a-f]{64}$/.test(it)) || new Set(keys).size !== keys.length)
    throw new Error('--signers is a list of different keys in hex')
  const enough = threshold === undefined ? keys.length : Number(threshold)
  if (!(Number.isInteger(enough) && enough > 0 && enough <= keys.length))
    throw new Error('--threshold is a number of these keys')
  const now = at === undefined ? Date.now() : Date.parse(at)
  if (Number.isNaN(now)) throw new Error('--at is a time, such as 2026-11-01T12:00:00Z')
  const signed = { text: await readFile(file, 'utf8'), signatures: await signaturesOf(file) }
  try {
    const list = await readReleases(signed, { keys, threshold: enough }, now)
    show(json ? [JSON.stringify(list)] : linesOf(list))
    return 0
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { reason, detail } = error
    show([json ? JSON.stringify({ refused: reason, detail }) : `✗ ${reasons[reason]}: ${reason}`])
    return 1
  }
}

const signWith = async (file: string, signer: string | undefined): Promise<number> => {
  if (signer === undefined) throw new Error('--signer is needed: a file with a key of Ed25519 in PEM')
  const secret = createPrivateKey(await readFile(signer))
  if (secret.asymmetricKeyType !== 'ed25519') throw new Error('--signer holds no key of Ed25519')
  const key = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
  const signature = sign(null, await signedBytes(releasesFormat, await readFile(file, 'utf8')), secret).toString('hex')
  const others = (await signaturesOf(file)).filter((it) => it.key !== key)
  await writeFile(`${file}.sig`, `${JSON.stringify([...others, { key, signature }])}\n`)
  show([`✓ signed with ${key}`])
  return 0
}

/**
 * The digest that an enclave process reports when it runs with this configuration alone. Anyone can compute it from
 * the same file.
 */
const digestOf = async (file: string): Promise<number> => {
  const written = parsed(await readFile(file, 'utf8'))
  const variables = variablesIn(written)
  // The value of a variable enters the digest only where it names a provider's host.
  const missing = variables.find((name) => process.env[name] === undefined)
  if (missing !== undefined) throw new Error(`${missing} is not set, which the configuration names`)
  const start = { written, variables, options: [], arguments: ['enclave'] }
  const digest = await releaseDigest(checkedConfig(written, process.env), start)
  show([Buffer.from(digest).toString('hex')])
  return 0
}

const acts: Readonly<Record<string, (file: string, values: ReleaseOptions) => Promise<number>>> = {
  check,
  sign: (file, { signer }) => signWith(file, signer),
  digest: digestOf,
  write: writeRelease,
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
