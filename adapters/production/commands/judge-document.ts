import { readFile, stat } from 'node:fs/promises'
import { Refusal } from '../../../plugins/sealed/evidence/reasons.ts'
import { reasons } from '../../../plugins/sealed/evidence/reason-words.ts'
import { type Checks, newChecks } from '../../../plugins/sealed/evidence/checks.ts'
import {
  type ServiceQuestion,
  type ServiceVerdict,
  judgeService,
} from '../../../plugins/sealed/evidence/services/judge.ts'
import type { Memory } from '../../../plugins/sealed/evidence/policy.ts'
import { type Service, services } from '../../../plugins/sealed/evidence/services/machine.ts'
import { type ServicePolicy, parseServicePolicy } from '../../../plugins/sealed/evidence/services/service-policy.ts'
import { fromHex } from '../../../plugins/sealed/wire/bytes.ts'
import { timeOf } from '../../local/option-values.ts'
import { completing } from '../evidence/completing.ts'
import { readRecording } from '../evidence/recording.ts'
import { type Source, folderSource, serviceSource } from '../evidence/sources.ts'
import { openUpstream } from '../network/fetch-upstream.ts'

/** Options of `sealgate verify --service`. */
export type ServiceValues = { readonly service: string; readonly json?: boolean | undefined } & Partial<
  Record<'evidence' | 'policy' | 'nonce' | 'at' | 'collateral' | 'gpu-tokens' | 'gpu-keys', string | undefined>
>

/** What is judged, from a file of the service's own or from a recording. */
interface Judged extends Omit<ServiceQuestion, 'now'> {
  readonly document: string
  readonly source: Source
  readonly at: number
}

const serviceOf = (name: string): Service => {
  const found = services.find((service) => service === name)
  if (found === undefined) throw new Error(`--service is one of ${services.join(', ')}`)
  return found
}

const nonceOf = (hex: string | undefined): Uint8Array | null => {
  if (hex === undefined) return null
  const bytes = fromHex(hex.toLowerCase(), 32)
  if (bytes?.length !== 32) throw new Error('--nonce has 32 bytes in hex')
  return bytes
}

const gpuOf = async (values: ServiceValues): Promise<ServiceQuestion['gpu']> => {
  const { 'gpu-tokens': tokens, 'gpu-keys': keys } = values
  if (tokens === undefined && keys === undefined) return null
  if (tokens === undefined || keys === undefined) throw new Error('--gpu-tokens and --gpu-keys are given together')
  return { tokens: await readFile(tokens, 'utf8'), keys: await readFile(keys, 'utf8') }
}

/** What the options say counts more than what the recording says. */
const judged = async (values: ServiceValues): Promise<Judged> => {
  const { evidence, nonce, at } = values
  if (evidence === undefined) throw new Error('--evidence FILE is needed: the document of the service, or a recording')
  const [gpu, source] = [await gpuOf(values), sourceOf(values)]
  if ((await stat(evidence)).isDirectory()) {
    const recording = await readRecording(evidence)
    return {
      document: recording.document,
      nonce: nonceOf(nonce) ?? recording.nonce,
      tlsKey: recording.tlsKey,
      gpu: gpu ?? recording.gpu,
      source: source ?? recording.source,
      at: timeOf(at, recording.at ?? Date.now()),
    }
  }
  return {
    document: await readFile(evidence, 'utf8'),
    nonce: nonceOf(nonce),
    tlsKey: null,
    gpu,
    source: source ?? serviceSource(openUpstream().door),
    at: timeOf(at),
  }
}

const sourceOf = ({ collateral }: ServiceValues): Source | null =>
  collateral === undefined ? null : folderSource(collateral)

/** Without a policy all but the image is judged, and no image is accepted. */
const policyIn = async ({ policy }: ServiceValues, memory: Memory | null): Promise<ServicePolicy> => {
  const { platform, lists } = parseServicePolicy(policy === undefined ? '{}' : await readFile(policy, 'utf8'))
  return { platform: { ...platform, ...(memory !== null && { memory }) }, lists }
}

const linesOf = ({ machines, gpus, exceptions, warnings, ends }: ServiceVerdict): readonly string[] => [
  ...machines.flatMap(({ role, product, chip, image, keys }) => [
    `✓ ${role}: ${product}${chip === null ? '' : `, chip ${chip.slice(0, 8)}…`}, runs ${image}`,
    ...keys.map(({ use, key }) => `✓ ${role}: the ${use} key ${key}`),
  ]),
  ...(gpus === null ? [] : [`✓ ${gpus} GPUs passed NVIDIA's attestation service`]),
  ...exceptions.map(({ allow, because }) => `! excepted: ${allow}, because ${because}`),
  ...warnings.map(({ detail }) => `! ${detail}`),
  `verified until ${new Date(ends).toISOString()}`,
]

const refusalLines = ({ reason, detail }: Refusal, { done }: Checks): readonly string[] => [
  ...done.map(({ id, ok }) => `${ok ? '✓' : '✗'} ${id}`),
  `✗ ${reason}${detail === null ? '' : ` (${detail})`}. ${reasons[reason]}.`,
]

/** Judges a document of a service that exists. Resolves with 0 when it holds, and with 1 when it is refused. */
export const verifyService = async (
  values: ServiceValues,
  memory: Memory | null,
  show: (lines: readonly string[]) => void,
): Promise<number> => {
  const service = serviceOf(values.service)
  const [policy, { document, source, at, ...question }] = [await policyIn(values, memory), await judged(values)]
  const checks = newChecks()
  const complete = completing(source, policy.platform, at)
  try {
    const verdict = await judgeService(service, document, policy, { ...question, now: at }, complete, checks)
    show(values.json === true ? [JSON.stringify(verdict)] : linesOf(verdict))
    return 0
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { reason, detail } = error
    const facts = { verified: false, reason, detail, checks: checks.done }
    show(values.json === true ? [JSON.stringify(facts)] : refusalLines(error, checks))
    return 1
  }
}
