import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { connect } from '../../plugins/sealed/client/client.ts'
import { SealgateError } from '../../plugins/sealed/client/error.ts'
import { type LogProof, checkProof } from '../../plugins/sealed/client/receipt-log.ts'
import { isNamedKey } from '../../plugins/sealed/client/receipts.ts'
import { checkAttestation } from '../../plugins/sealed/client/seal-request.ts'
import type { HeadFacts } from '../../plugins/sealed/wire/log.ts'
import type { Place } from '../../plugins/sealed/wire/tree.ts'
import { type Receipt, type ReceiptFacts, openReceipt } from '../../plugins/sealed/wire/receipt.ts'
import { endWith } from './error-text.ts'
import { keptFile } from './kept-file.ts'
import { keptAnswer } from './verify.ts'
import { refusalLines } from '../../plugins/sealed/client/verdict-lines.ts'
import { clientOf, clientOptions, policyOf } from './client-options.ts'

const options = {
  'allow-insecure-dev': clientOptions['allow-insecure-dev'],
  measurements: clientOptions.measurements,
  policy: clientOptions.policy,
  memory: clientOptions.memory,
  'base-url': clientOptions['base-url'],
  key: clientOptions.key,
  evidence: { type: 'string' },
  log: { type: 'string' },
  save: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

const show = (lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`)
const time = (ms: number): string => new Date(ms).toISOString()

/** People count from 1, and the log from 0. */
const placeLines = (place: Place, { size, at }: HeadFacts): readonly string[] => [
  `✓ entry ${place.index + 1} of ${size} in the log of receipts`,
  `! the log as it was at ${time(at)} by the clock of the host`,
]

const backendLines = ({ backendEvidence: evidence }: ReceiptFacts): readonly string[] =>
  evidence === undefined
    ? []
    : [
        `✓ the enclave verified the backend: ${evidence.platform}, measurement ${evidence.measurement}, ${evidence.kind} ${evidence.digest}`,
      ]

/** `✓` marks what signatures prove, and `!` what rests on the clock of the host. */
const linesOf = (facts: ReceiptFacts, proof: string): readonly string[] => [
  `✓ both signatures hold, by keys of the verified keyset (${proof})`,
  `✓ ${facts.route}, model ${facts.model ?? 'unknown'}, backend ${facts.backend ?? 'unknown'}`,
  ...backendLines(facts),
  `✓ request ${facts.request}`,
  `✓ answer  ${facts.answer}`,
  `✓ release ${facts.release}, epoch ${facts.epoch}, receipt ${facts.number}`,
  ...(facts.tokens === null ? [] : [`✓ ${facts.tokens.input} tokens in, ${facts.tokens.output} out`]),
  `! from ${time(facts.begun)} to ${time(facts.ended)} by the clock of the host`,
]

/** The receipt in a file: alone, or within the facts that a client keeps beside it. */
const keptReceipt = async (file: string): Promise<Receipt> => {
  const kept = (await keptFile(file, 'the file')) as Partial<Receipt> & { readonly receipt?: Receipt }
  const receipt = kept.receipt ?? kept
  if (typeof receipt.text !== 'string') throw new Error('the file holds no receipt')
  return receipt as Receipt
}

/** Whether a kept receipt was signed by the enclave whose kept evidence proves it, without a network. 0 when it was, 1 when not. */
const verify = async (file: string, values: ReturnType<typeof parsed>['values']): Promise<number> => {
  if (values.evidence === undefined) throw new Error('--evidence FILE is needed: what sealgate verify --save kept')
  const [receipt, kept] = [await keptReceipt(file), await keptAnswer(values.evidence)]
  try {
    const { proof, key, evidence } = await checkAttestation(kept, policyOf(values), kept.at)
    const signers = key.signers ?? []
    const facts = signers.map((keys) => openReceipt(receipt, keys)).find((facts) => facts !== null)
    if (facts === undefined || !isNamedKey(proof.body, facts.key)) {
      show([values.json ? JSON.stringify({ verified: false, fault: 'no_receipt' }) : unsigned(signers.length > 0)])
      return 1
    }
    const logged = values.log === undefined ? null : await provenIn(values.log)
    const head = logged && checkProof(receipt, logged, signers).facts
    const told = { verified: true, ...facts, ...(logged && head && { log: { index: logged.place.index, ...head } }) }
    const doubts = (proof.verdict?.warnings ?? []).map(({ detail }) => `! ${detail}`)
    const placed = logged && head ? placeLines(logged.place, head) : []
    const lines = [...linesOf(facts, evidence.type), ...placed, ...doubts]
    show(values.json ? [JSON.stringify(told)] : lines)
    return 0
  } catch (error) {
    if (!(error instanceof SealgateError)) throw error
    const { fault, reason } = error
    show(values.json ? [JSON.stringify({ verified: false, fault, reason })] : refusalLines(error))
    return 1
  }
}

/** Why no key of the evidence stands behind the receipt. */
const unsigned = (hasKeys: boolean): string =>
  hasKeys
    ? '✗ The keys of this evidence did not sign this receipt: the receipt was changed, or the evidence is of other keys'
    : '✗ The evidence names no keys of receipts: keep it again with sealgate verify --save, in the hour of the answer'

/** What `prove --save` kept. */
const provenIn = async (file: string): Promise<LogProof> => (await keptFile(file, '--log FILE')) as unknown as LogProof

/** Asks the gateway where the receipt stands in its log. 0 when it stands there, 1 when not or not yet. */
const prove = async (file: string, values: ReturnType<typeof parsed>['values'], env: NodeJS.ProcessEnv) => {
  const receipt = await keptReceipt(file)
  try {
    const found = await connect(clientOf(values, env)).receipts.proof(receipt)
    if (found === null) {
      const facts = { verified: false, fault: 'not_logged', waiting: true }
      show([
        values.json
          ? JSON.stringify(facts)
          : '✗ The receipt waits for its entry in the log: ask again in a few seconds',
      ])
      return 1
    }
    const { place, head, facts } = found
    if (values.save !== undefined) await writeFile(values.save, JSON.stringify({ place, head }))
    show(values.json ? [JSON.stringify({ verified: true, index: place.index, ...facts })] : placeLines(place, facts))
    return 0
  } catch (error) {
    if (!(error instanceof SealgateError)) throw error
    show(values.json ? [JSON.stringify({ verified: false, fault: error.fault })] : refusalLines(error))
    return 1
  }
}

const parsed = (args: readonly string[]) => parseArgs({ args: [...args], options, allowPositionals: true })

const acted = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  const { values, positionals } = parsed(args)
  const [act, file, ...more] = positionals
  if ((act !== 'verify' && act !== 'prove') || file === undefined || more.length > 0)
    throw new Error('sealgate receipt takes verify or prove, and one file')
  return act === 'verify' ? verify(file, values) : prove(file, values, env)
}

/** Ends with 0 when the receipt holds, with 1 when it is refused or not logged yet, and with 2 for a file it can't read. */
export const receipt = (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => endWith(acted(args, env))
