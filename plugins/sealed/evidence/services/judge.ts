import { same, fromHex } from '../../wire/bytes.ts'
import { inspect } from '../appraise.ts'
import { type Check, type Checks, newChecks } from '../checks.ts'
import type { PlatformFacts, UsedException, Warning } from '../finding.ts'
import { demand, refuse } from '../reasons.ts'
import type { GpuStatement } from './nvidia.ts'
import type { BoundKey, Complete, Machine, ReadService, Service } from './machine.ts'
import type { ServicePolicy } from './service-policy.ts'

export { type ServicePolicy, parseServicePolicy } from './service-policy.ts'

/** The question that a service's document answers. */
export interface ServiceQuestion {
  /** 32 bytes that the client chose; null for a document of earlier, which then shows no freshness. */
  readonly nonce: Uint8Array | null
  /** SHA-256 of the public key in which the live TLS connection ends; null when there is none. */
  readonly tlsKey: Uint8Array | null
  /** NVIDIA's statement about the GPUs of the machine that runs the model; null without one. */
  readonly gpu: GpuStatement | null
  readonly now: number
}

/** What was proved of one machine. */
export interface ProvenMachine {
  readonly role: Machine['role']
  readonly platform: Machine['platform']
  readonly product: string
  readonly chip: string | null
  readonly tcb: PlatformFacts['tcb']
  /** In hex. */
  readonly measurement: string
  /** The image as the policy names it. */
  readonly image: string
  readonly keys: readonly BoundKey[]
}

/** The proven facts of a service. Times in ms. */
export interface ServiceVerdict {
  readonly verified: 'platform' | 'test'
  readonly service: Service
  readonly machines: readonly ProvenMachine[]
  /** The number of GPUs that NVIDIA's service vouches for; null without its statement. */
  readonly gpus: number | null
  readonly exceptions: readonly UsedException[]
  readonly warnings: readonly Warning[]
  readonly checks: readonly Check[]
  readonly ends: number
}

/** Loads the reader of the given service alone. */
const readerOf = async (service: Service): Promise<ReadService> => {
  switch (service) {
    case 'tinfoil':
      return (await import('./tinfoil.ts')).readTinfoil
    case 'dstack':
      return (await import('./dstack.ts')).readDstack
    case 'near':
      return (await import('./near.ts')).readNear
  }
}

/** Throws unless the machine in which the connection ends is this one. */
const checkTlsKey = ({ keys }: Machine, tlsKey: Uint8Array): void => {
  const bound = keys.find(({ use }) => use === 'tls')
  demand(bound !== undefined && same(fromHex(bound.key, 32)!, tlsKey), 'report_data_mismatch', 'tls key')
}

const warningsOf = ({ nonce, tlsKey, gpu }: ServiceQuestion, machines: readonly Machine[]): readonly Warning[] => {
  const raw = machines.some(({ hasRawGpuEvidence }) => hasRawGpuEvidence)
  return [
    ...(nonce === null
      ? [{ code: 'nonce_unchecked', detail: 'The nonce is the document’s own: nothing shows its time' }]
      : []),
    ...(tlsKey === null
      ? [{ code: 'channel_unchecked', detail: 'No live connection was compared: the document may be relayed' }]
      : []),
    ...(raw && gpu === null
      ? [
          {
            code: 'gpu_unjudged',
            detail: 'The raw evidence of GPUs is not judged; a token of NVIDIA’s service would be',
          },
        ]
      : []),
  ]
}

const checkMachine = async (
  machine: Machine,
  { platform: policy, lists }: ServicePolicy,
  now: number,
  complete: Complete,
  checks: Checks,
): Promise<{ readonly facts: PlatformFacts; readonly proven: ProvenMachine }> => {
  const { role, platform, report, reportData, keys } = machine
  const evidence = await complete(platform, report)
  const question = { keysetHash: reportData.subarray(0, 32), challenge: reportData.subarray(32), now }
  const facts = await inspect(evidence, policy, question, checks)
  const image = await checks.run('image', () => machine.checkImage(facts, lists))
  const { product, chip, tcb, measurement } = facts
  return { facts, proven: { role, platform, product, chip, tcb, measurement, image, keys } }
}

/** Throws unless a statement is there where the policy demands one, and holds where there is one. */
const checkGpus = async (
  { lists }: ServicePolicy,
  { gpu, now }: ServiceQuestion,
  machine: Machine,
): Promise<{ readonly count: number; readonly ends: number } | null> => {
  if (gpu === null) return lists.gpu === undefined ? null : refuse('gpu_refused', 'no token')
  const { checkGpuStatement } = await import('./nvidia.ts')
  return checkGpuStatement(gpu, machine.nonce, lists.gpu?.issuers, now)
}

/**
 * Throws a `Refusal` unless every machine of the document is genuine, runs an image of the policy, and answers the
 * question. GPUs and processors each have a veto.
 */
export const judgeService = async (
  service: Service,
  text: string,
  policy: ServicePolicy,
  question: ServiceQuestion,
  complete: Complete,
  checks: Checks = newChecks(),
): Promise<ServiceVerdict> => {
  const { nonce, tlsKey, now } = question
  const read = await readerOf(service)
  const machines = await checks.run('document', () => read(text))
  const [first] = machines
  if (first === undefined) return refuse('evidence_malformed', 'no machine')
  if (nonce !== null)
    await checks.run('nonce', () => {
      for (const machine of machines) demand(same(machine.nonce, nonce), 'report_data_mismatch', 'nonce')
    })
  // A connection ends in the first machine, which passes prompts on to the others.
  if (tlsKey !== null) await checks.run('tls key', () => checkTlsKey(first, tlsKey))
  const found: Awaited<ReturnType<typeof checkMachine>>[] = []
  for (const machine of machines) found.push(await checkMachine(machine, policy, now, complete, checks))
  const gpus = await checks.run('gpu', () =>
    checkGpus(policy, question, machines.find(({ role }) => role === 'model') ?? first),
  )
  const exceptions = found.flatMap(({ facts }) => facts.exceptions)
  const isTest = found.some(({ proven }) => policy.platform.testRoots?.[proven.platform] !== undefined)
  return {
    verified: isTest ? 'test' : 'platform',
    service,
    machines: found.map(({ proven }) => proven),
    gpus: gpus?.count ?? null,
    exceptions,
    warnings: [...warningsOf(question, machines), ...found.flatMap(({ facts }) => facts.warnings)],
    checks: checks.done,
    ends: Math.min(
      ...found.flatMap(({ facts }) => facts.collateral.map(({ ends }) => ends)),
      ...exceptions.map(({ until }) => until),
      ...(gpus === null ? [] : [gpus.ends]),
    ),
  }
}
