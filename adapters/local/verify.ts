import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { SealgateError } from '../../plugins/sealed/client/error.ts'
import { type Verified, verifiedFactsOf } from '../../plugins/sealed/client/verified.ts'
import type { Evidence, Policy } from '../../plugins/sealed/client/verify.ts'
import { type Attestation, askAttestation, checkAttestation } from '../../plugins/sealed/client/seal-request.ts'
import { listsIn } from '../../plugins/sealed/client/signed-lists.ts'
import { clientOf, clientOptions, policyOf } from './client-options.ts'
import { endWith, sentenceOf } from './error-text.ts'
import { keptFile } from './kept-file.ts'
import { timeOf } from './option-values.ts'
import { seenFile } from './seen-numbers-file.ts'
import { refusalLines, verdictLines } from '../../plugins/sealed/client/verdict-lines.ts'

/** An answer of the gateway with the time of asking, which evidence is judged by later. */
export interface Kept extends Attestation {
  /** Ms. */
  readonly at: number
}

/** What `--save` kept. Throws for any other file. */
export const keptAnswer = async (file: string): Promise<Kept> => {
  const kept = await keptFile(file, '--evidence FILE')
  const bytes = (name: string): Uint8Array => {
    const text = kept[name]
    if (typeof text !== 'string' || !/^([0-9a-f]{2})+$/.test(text)) throw new Error(`--evidence FILE has no ${name}`)
    return new Uint8Array(Buffer.from(text, 'hex'))
  }
  const { evidence, at, lists, receiptKeys } = kept
  if (typeof evidence !== 'object' || evidence === null || typeof at !== 'number')
    throw new Error('--evidence FILE is no answer that --save kept')
  return {
    keyset: bytes('keyset'),
    challenge: bytes('challenge'),
    evidence: evidence as Evidence,
    at,
    ...(lists !== undefined && { lists: listsIn(lists) }),
    receiptKeys,
  }
}

/** Bytes are written in hex. */
const save = (file: string, { keyset, challenge, ...rest }: Kept): Promise<void> =>
  writeFile(file, JSON.stringify({ keyset: hexOf(keyset), challenge: hexOf(challenge), ...rest }))

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const show = (lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`)

const checked = async (kept: Kept, policy: Policy, now: number): Promise<Verified> =>
  verifiedFactsOf(await checkAttestation(kept, policy, now))

const options = {
  ...clientOptions,
  json: { type: 'boolean', default: false },
  save: { type: 'string' },
  evidence: { type: 'string' },
  at: { type: 'string' },
  service: { type: 'string' },
  boot: { type: 'string' },
  nonce: { type: 'string' },
  collateral: { type: 'string' },
  'gpu-tokens': { type: 'string' },
  'gpu-keys': { type: 'string' },
} as const

/** Options of each kind of verification. */
const takes: Readonly<Record<'boot' | 'service' | 'enclave', readonly string[]>> = {
  boot: ['boot', 'collateral', 'policy', 'measurements', 'memory', 'at', 'json'],
  service: ['service', 'evidence', 'policy', 'memory', 'nonce', 'at', 'collateral', 'gpu-tokens', 'gpu-keys', 'json'],
  enclave: [...Object.keys(clientOptions), 'save', 'evidence', 'at', 'json'],
}

/** Throws for an option that would be passed over, and for one argument too many. */
const refuseIdle = (
  values: Readonly<Record<string, unknown>>,
  positionals: readonly string[],
  kind: keyof typeof takes,
): void => {
  const isGiven = (name: string) => values[name] !== undefined && values[name] !== false
  const idle = Object.keys(values).find((name) => isGiven(name) && !takes[kind].includes(name))
  if (idle !== undefined)
    throw new Error(`verify ${kind === 'enclave' ? 'of an enclave' : `--${kind}`} takes no --${idle}`)
  const stray = positionals[kind === 'enclave' && values['evidence'] === undefined ? 1 : 0]
  if (stray !== undefined) throw new Error(`${stray} is one argument too many`)
}

/** Resolves with the exit code. What is saved is the answer as it came, whether verified or refused. */
const attempt = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const { service, boot } = values
  refuseIdle(values, positionals, boot !== undefined ? 'boot' : service !== undefined ? 'service' : 'enclave')
  if (boot !== undefined) {
    const { judgeBoot } = await import('../production/commands/judge-boot.ts')
    return judgeBoot(boot, values, show)
  }
  if (service !== undefined) {
    const { verifyService } = await import('../production/commands/judge-document.ts')
    return verifyService({ ...values, service }, values.memory === undefined ? null : seenFile(values.memory), show)
  }
  const policy = policyOf(values)
  const keptOf = async (): Promise<Kept> => {
    const at = clientOf({ ...values, 'base-url': positionals[0] ?? values['base-url'] }, env)
    const connection = { ...at, baseUrl: at.baseUrl.replace(/(?<!\/)\/+$/, ''), policy, fetch }
    return { ...(await askAttestation(connection)), at: Date.now() }
  }
  const answer = values.evidence === undefined ? await keptOf() : await keptAnswer(values.evidence)
  if (values.save !== undefined) await save(values.save, answer)
  const now = timeOf(values.at, answer.at)
  try {
    const told = await checked(answer, policy, now)
    show(values.json ? [JSON.stringify(told)] : verdictLines(told))
    return 0
  } catch (error) {
    if (!(error instanceof SealgateError)) throw error
    const { fault, reason, detail, checks } = error
    const lines = fault === 'insecure' ? [`! development: proves nothing`, sentenceOf(error)] : refusalLines(error)
    show(values.json ? [JSON.stringify({ verified: false, fault, reason, detail, checks })] : lines)
    return 1
  }
}

/** Shows what the enclave proves. The process ends with 0 when it is verified, 1 when it is refused, 2 otherwise. */
export const verify = (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => endWith(attempt(args, env))
