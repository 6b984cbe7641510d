import { concat, same, utf8, fromHex, toHex } from '../../wire/bytes.ts'
import { type EvidenceMembers, isZero, member, textIn, evidenceMembersOf } from '../fields.ts'
import type { PlatformFacts } from '../finding.ts'
import { digest } from '../keys.ts'
import { demand, refuse } from '../reasons.ts'
import { mostQuote } from '../tdx-quote.ts'
import { documentOf, hexMember, objectMember, parsedMember } from './document.ts'
import type { BoundKey, Machine, ReadService } from './machine.ts'
import type { DstackLists, ServiceLists } from './service-policy.ts'

const mostCompose = 1024 * 1024

/** The key that signs and unseals, as `signing_algo` says. An address of Ethereum has 20 bytes. */
const signerOf = (document: EvidenceMembers): { readonly use: BoundKey['use']; readonly bytes: Uint8Array } => {
  const algorithm = member(document, 'signing_algo') ?? 'ecdsa'
  if (algorithm === 'ed25519') return { use: 'ed25519', bytes: hexMember(document, 'signing_address', 32) }
  if (algorithm === 'ecdsa') return { use: 'secp256k1-address', bytes: hexMember(document, 'signing_address', 20) }
  return refuse('no_verifier', 'signing_algo')
}

/**
 * The first half of the report data: the address itself with zeros behind it, or, where the document names the key of its
 * TLS, the hash over both.
 */
const subjectOf = async (signer: Uint8Array, tls: Uint8Array | null): Promise<Uint8Array> =>
  tls === null ? concat(signer, new Uint8Array(32 - signer.length)) : digest('SHA-256', concat(signer, tls))

const quoteOf = (document: EvidenceMembers): Uint8Array => {
  const text = textIn(document, 'intel_quote', 2 * mostQuote)
  return fromHex(text, mostQuote) ?? refuse('evidence_malformed', 'intel_quote')
}

/** The one measured form: MRCONFIGID holds a 1 and the hash of the application's file. */
const isConfigured = (configId: Uint8Array, compose: Uint8Array): boolean =>
  same(configId, concat(Uint8Array.of(1), compose, new Uint8Array(15)))

const isListed = (value: Uint8Array, accepted: readonly string[] | undefined): boolean =>
  accepted === undefined || accepted.includes(toHex(value))

/** Throws unless firmware, system, application and provider of keys are those of the lists. */
export const checkDstackImage = async (
  { registers }: PlatformFacts,
  lists: DstackLists,
  log: unknown,
  compose: string,
): Promise<string> => {
  if (registers === null) return refuse('platform_not_allowed', 'dstack runs on TDX')
  const { mrtd, rtmr, configId, owner, ownerConfig } = registers
  const [rtmr0, rtmr1, rtmr2] = rtmr.map(toHex)
  const system = lists.systems.find(
    (measured) =>
      measured.mrtd === toHex(mrtd) &&
      measured.rtmr0.includes(rtmr0!) &&
      measured.rtmr1 === rtmr1 &&
      measured.rtmr2 === rtmr2,
  )
  demand(system !== undefined, 'measurement_not_allowed', 'system')
  demand(isZero(owner) && isZero(ownerConfig), 'policy_refused', 'registers')
  const events = await replayed(log, rtmr)
  const hash = await digest('SHA-256', utf8(compose))
  demand(same(eventOf(events, 'compose-hash'), hash), 'measurement_not_allowed', 'event compose-hash')
  demand(isZero(configId) || isConfigured(configId, hash), 'measurement_not_allowed', 'MRCONFIGID')
  demand(lists.compose.includes(toHex(hash)), 'measurement_not_allowed', 'app_compose')
  demand(isListed(eventOf(events, 'app-id'), lists.apps), 'measurement_not_allowed', 'app-id')
  const provider = await digest('SHA-256', eventOf(events, 'key-provider'))
  demand(isListed(provider, lists.keyProviders), 'measurement_not_allowed', 'key-provider')
  return `${system.name}, app_compose ${toHex(hash)}`
}

/** A machine of dstack with the proxy that serves models, from its own document or from a part of NEAR's. */
export const dstackMachine = async (
  document: EvidenceMembers,
  role: Machine['role'],
  listsOf: (lists: ServiceLists) => DstackLists | undefined,
): Promise<Machine> => {
  // Services behind the same address answer in other forms, too, which have no log of events.
  demand(member(document, 'attestation_type') === undefined, 'no_verifier', 'attestation_type')
  const signer = signerOf(document)
  const nonce = hexMember(document, 'request_nonce', 32)
  const tls =
    member(document, 'tls_cert_fingerprint') === undefined ? null : hexMember(document, 'tls_cert_fingerprint', 32)
  const own = { use: signer.use, key: toHex(signer.bytes) }
  const info = parsedMember(document, 'info')
  const tcb = parsedMember(info as EvidenceMembers, 'tcb_info') as EvidenceMembers
  const compose = textIn(objectMember({ tcb_info: tcb }, 'tcb_info'), 'app_compose', mostCompose)
  const log = parsedMember(document, 'event_log')
  return {
    role,
    platform: 'tdx',
    report: quoteOf(document),
    nonce,
    reportData: concat(await subjectOf(signer.bytes, tls), nonce),
    keys: tls === null ? [own] : [own, { use: 'tls', key: toHex(tls) }],
    checkImage: (facts, lists) => {
      const accepted = listsOf(lists)
      return accepted === undefined
        ? refuse('measurement_not_allowed', `the policy names no systems for the ${role}`)
        : checkDstackImage(facts, accepted, log, compose)
    },
    hasRawGpuEvidence: member(document, 'nvidia_payload') !== undefined,
  }
}

/** A machine of dstack, of Phala and others. */
export const readDstack: ReadService = async (text) => [
  await dstackMachine(documentOf(text), 'machine', ({ dstack }) => dstack),
]

/** Events of the application: dstack extends the last register with them. */
const appRegister = 3
const appEvent = 0x08000001
const mostEvents = 1024
const mostPayload = 64 * 1024

/** An event of an application's start: its name and the bytes that were measured. */
interface AppEvent {
  readonly name: string
  readonly payload: Uint8Array
}

const littleEndian = (value: number): Uint8Array => Uint8Array.of(value, value >> 8, value >> 16, value >> 24)

const payloadOf = (event: EvidenceMembers): Uint8Array => {
  const text = textIn(event, 'event_payload', 2 * mostPayload)
  return hexMember(event, 'event_payload', text.length / 2)
}

/** The number of a register. */
const registerOf = ({ imr }: EvidenceMembers): number =>
  imr === 0 || imr === 1 || imr === 2 || imr === appRegister ? imr : refuse('evidence_malformed', 'imr')

/** Throws unless the digest of an application's event is the one of its name and payload. */
const appEventOf = async (event: EvidenceMembers, hash: Uint8Array): Promise<AppEvent> => {
  const name = textIn(event, 'event', 128)
  const payload = payloadOf(event)
  demand(event['event_type'] === appEvent, 'evidence_malformed', 'event_type')
  const whole = concat(littleEndian(appEvent), utf8(`:${name}:`), payload)
  demand(same(await digest('SHA-384', whole), hash), 'measurement_not_allowed', 'digest of an event')
  return { name, payload }
}

/** Replays a log. Throws unless it leads to exactly these registers. Returns the application's events in order. */
const replayed = async (log: unknown, registers: readonly Uint8Array[]): Promise<readonly AppEvent[]> => {
  if (!Array.isArray(log) || log.length > mostEvents) return refuse('evidence_malformed', 'event_log')
  const sums = [0, 1, 2, 3].map(() => new Uint8Array(48))
  const events: AppEvent[] = []
  for (const entry of log as readonly unknown[]) {
    const event = evidenceMembersOf(entry, 'event_log')
    const register = registerOf(event)
    const hash = hexMember(event, 'digest', 48)
    if (register === appRegister) events.push(await appEventOf(event, hash))
    sums[register] = (await digest('SHA-384', concat(sums[register]!, hash))) as Uint8Array<ArrayBuffer>
  }
  demand(
    sums.every((sum, at) => same(sum, registers[at]!)),
    'measurement_not_allowed',
    'event_log',
  )
  return events
}

/**
 * The payload of the only event with this name. A second one could hide the first. A digest shows no border between a name
 * and its payload, so an event whose name goes on behind a colon counts as this one, too.
 */
const eventOf = (events: readonly AppEvent[], name: string): Uint8Array => {
  const [found, ...more] = events.filter((event) => `${event.name}:`.startsWith(`${name}:`))
  const isAlone = found?.name === name && more.length === 0
  return isAlone ? found.payload : refuse('measurement_not_allowed', `event ${name}`)
}
