import { same, utf8, fromHex, toHex } from '../../wire/bytes.ts'
import { clockSkewMs } from '../chain.ts'
import { contextTag, cursor, octetsOf, onlyItem, tags, timeOf } from '../der.ts'
import { type EvidenceMembers, evidenceMembersOf, member, textIn } from '../fields.ts'
import { type PublicKey, checkSignature, digest, publicKeyOf } from '../keys.ts'
import { Refusal, demand, readable, refuse } from '../reasons.ts'
import { objectMember } from './document.ts'

/** The answer of NVIDIA's attestation service about the GPUs of one machine, and the keys that it publishes. */
export interface GpuStatement {
  /** The service's answer: the token of the whole, and one for each GPU. */
  readonly tokens: string
  /** The service's set of keys, as JSON. */
  readonly keys: string
}

/** SHA-256 of the certificates that issue the service's keys, which change every two days. */
const builtInIssuers = ['2df8907cf4d6c277b855d407ec178a649930a8e73f7294e8fce66e6ee27c5175']

const issuerName = 'https://nras.attestation.nvidia.com'
const subjectName = 'NVIDIA-PLATFORM-ATTESTATION'
/** In seconds: the service's tokens live for an hour. */
const longestLife = 3600
const mostText = 1024 * 1024
const mostGpus = 64
/** sha256WithRSAEncryption, whose parameters are null. */
const rsaSha256 = '300d06092a864886f70d01010b0500'

const base64url = (text: string): Uint8Array => {
  demand(/^[\w-]*$/.test(text), 'evidence_malformed', 'token')
  const decoded = readable(() => atob(text.replaceAll('-', '+').replaceAll('_', '/')), 'token')
  return Uint8Array.from(decoded, (character) => character.charCodeAt(0))
}

const objectOf = (json: string, name: string): EvidenceMembers =>
  evidenceMembersOf(
    readable(() => JSON.parse(json) as unknown, name),
    name,
  )

/** The parts of a certificate that the chain of two needs. */
const readIssued = (der: Uint8Array) => {
  const outer = cursor(onlyItem(der, tags.sequence).content)
  const inside = outer.take(tags.sequence)
  const algorithm = toHex(outer.take(tags.sequence).whole)
  const signature = octetsOf(outer.take(tags.bitString))
  outer.end()
  const parts = cursor(inside.content)
  parts.take(contextTag(0))
  parts.take(tags.integer)
  demand(toHex(parts.take(tags.sequence).whole) === algorithm, 'evidence_malformed', 'signature algorithm')
  const issuer = parts.take(tags.sequence).whole
  const dates = cursor(parts.take(tags.sequence).content)
  const [from, until] = [timeOf(dates.any()), timeOf(dates.any())]
  const subject = parts.take(tags.sequence).whole
  return {
    signed: inside.whole,
    algorithm,
    signature,
    issuer,
    subject,
    from,
    until,
    keyInfo: parts.take(tags.sequence).whole,
  }
}

const checkRsa = async (keyInfo: Uint8Array, signature: Uint8Array, signed: Uint8Array): Promise<void> => {
  const scheme = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const { subtle } = globalThis.crypto
  const holds = await subtle
    .importKey('spki', keyInfo as Uint8Array<ArrayBuffer>, scheme, false, ['verify'])
    .then((key) => subtle.verify(scheme, key, signature as Uint8Array<ArrayBuffer>, signed as Uint8Array<ArrayBuffer>))
    .catch((cause: unknown) => {
      throw new Refusal('chain_broken', 'key of the GPU service', cause)
    })
  demand(holds, 'chain_broken', 'key of the GPU service')
}

const certificateOf = (value: unknown): Uint8Array => {
  demand(typeof value === 'string' && value.length <= 8192, 'evidence_malformed', 'x5c')
  return base64url(value.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))
}

/** The key with this id. Its certificate counts, and not the numbers beside it. */
const keyOf = async (
  keys: EvidenceMembers,
  kid: string,
  issuers: readonly string[],
  now: number,
): Promise<PublicKey> => {
  const all = member(keys, 'keys')
  if (!Array.isArray(all) || all.length > 256) return refuse('evidence_malformed', 'keys')
  const named = all.map((key: unknown) => evidenceMembersOf(key, 'keys')).filter((key) => member(key, 'kid') === kid)
  const [found, ...more] = named
  const chain = found === undefined || more.length > 0 ? null : member(found, 'x5c')
  if (!Array.isArray(chain) || chain.length < 2) return refuse('chain_broken', 'key of the GPU service')
  const [leafBytes, issuerBytes] = [certificateOf(chain[0]), certificateOf(chain[1])]
  demand(issuers.includes(toHex(await digest('SHA-256', issuerBytes))), 'root_unknown', 'issuer of the GPU service')
  const [leaf, issuer] = [readIssued(leafBytes), readIssued(issuerBytes)]
  for (const { from, until } of [leaf, issuer])
    demand(from <= now + clockSkewMs && now <= until, 'certificate_expired', 'key of the GPU service')
  demand(same(leaf.issuer, issuer.subject) && leaf.algorithm === rsaSha256, 'chain_broken', 'key of the GPU service')
  await checkRsa(issuer.keyInfo, leaf.signature, leaf.signed)
  return publicKeyOf(leaf.keyInfo)
}

const numberIn = (claims: EvidenceMembers, name: string): number => {
  const value = member(claims, name)
  return Number.isSafeInteger(value) ? (value as number) : refuse('evidence_malformed', name)
}

/** Throws unless the claims are of this moment, and of no longer life than an hour. */
const checkTimes = (claims: EvidenceMembers, now: number): number => {
  const [issued, from, until] = [numberIn(claims, 'iat'), numberIn(claims, 'nbf'), numberIn(claims, 'exp')]
  demand(until - issued <= longestLife && issued <= until, 'evidence_stale', 'life of a GPU token')
  const isNow = Math.max(issued, from) * 1000 <= now + clockSkewMs && now < until * 1000
  demand(isNow, 'evidence_stale', 'GPU token')
  return until * 1000
}

/** The claims of a token whose ES384 signature holds, about this nonce and this moment. */
const claimsOf = async (token: string, context: Context): Promise<EvidenceMembers> => {
  const { keys, nonce, issuers, now } = context
  const parts = token.split('.')
  demand(parts.length === 3 && token.length <= mostText, 'evidence_malformed', 'token')
  const [head, body, signature] = parts as [string, string, string]
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const header = objectOf(decoder.decode(base64url(head)), 'token')
  demand(member(header, 'alg') === 'ES384', 'signature_invalid', 'algorithm of a GPU token')
  const key = await keyOf(keys, textIn(header, 'kid', 256), issuers, now)
  const signed = utf8(`${head}.${body}`)
  await checkSignature(key, 'ecdsa-sha384', base64url(signature), signed, ['signature_invalid', 'GPU token'])
  const claims = objectOf(decoder.decode(base64url(body)), 'token')
  demand(member(claims, 'iss') === issuerName, 'gpu_refused', 'issuer of a GPU token')
  demand(member(claims, 'eat_nonce') === toHex(nonce), 'report_data_mismatch', 'nonce of a GPU')
  checkTimes(claims, now)
  return claims
}

interface Context {
  readonly keys: EvidenceMembers
  readonly nonce: Uint8Array
  readonly issuers: readonly string[]
  readonly now: number
}

/** Claims that one GPU must make; every other claim of the service about its checks must not be false. */
const neededClaims: Readonly<Record<string, unknown>> = {
  measres: 'success',
  dbgstat: 'disabled',
  secboot: true,
  'x-nvidia-gpu-attestation-report-nonce-match': true,
  'x-nvidia-gpu-attestation-report-signature-verified': true,
  'x-nvidia-gpu-attestation-report-cert-chain-validated': true,
}

const checkGpu = (claims: EvidenceMembers): void => {
  for (const [name, wanted] of Object.entries(neededClaims))
    demand(member(claims, name) === wanted, 'gpu_refused', name)
  const refused = Object.entries(claims).find(([name, value]) => name.startsWith('x-nvidia-') && value === false)
  demand(refused === undefined, 'gpu_refused', 'a check of the GPU service')
}

/** The token of the whole, and those of single GPUs by name. */
const tokensOf = (text: string): { readonly whole: string; readonly gpus: EvidenceMembers } => {
  demand(text.length <= mostText, 'evidence_malformed', 'GPU tokens')
  const answer: unknown = readable(() => JSON.parse(text) as unknown, 'GPU tokens')
  if (!Array.isArray(answer) || answer.length !== 2) return refuse('evidence_malformed', 'GPU tokens')
  const [pair, gpus] = answer as readonly unknown[]
  if (!Array.isArray(pair) || pair.length !== 2 || pair[0] !== 'JWT' || typeof pair[1] !== 'string')
    return refuse('evidence_malformed', 'GPU tokens')
  return { whole: pair[1], gpus: evidenceMembersOf(gpus, 'GPU tokens') }
}

/** The hash that the token of the whole names for one GPU's token. */
const namedDigest = (submodules: EvidenceMembers, name: string): Uint8Array => {
  const claims = member(submodules, name)
  const inner: unknown = Array.isArray(claims) && claims.length === 2 && claims[0] === 'DIGEST' ? claims[1] : null
  const hex: unknown = Array.isArray(inner) && inner.length === 2 && inner[0] === 'SHA-256' ? inner[1] : null
  return (typeof hex === 'string' ? fromHex(hex, 32) : null) ?? refuse('evidence_malformed', 'submods')
}

/**
 * Throws unless NVIDIA's service says of every GPU that it passed, for this nonce and within the hour. Returns the number
 * of GPUs, and the end of the statement in ms.
 */
export const checkGpuStatement = async (
  { tokens, keys }: GpuStatement,
  nonce: Uint8Array,
  issuers: readonly string[] | undefined,
  now: number,
): Promise<{ readonly count: number; readonly ends: number }> => {
  demand(keys.length <= mostText, 'evidence_malformed', 'keys')
  const context: Context = { keys: objectOf(keys, 'keys'), nonce, issuers: issuers ?? builtInIssuers, now }
  const { whole, gpus } = tokensOf(tokens)
  const claims = await claimsOf(whole, context)
  demand(member(claims, 'sub') === subjectName, 'gpu_refused', 'subject of a GPU token')
  demand(member(claims, 'x-nvidia-overall-att-result') === true, 'gpu_refused', 'overall result')
  const submodules = objectMember(claims, 'submods')
  const names = Object.keys(submodules)
  demand(names.length > 0 && names.length <= mostGpus, 'evidence_malformed', 'submods')
  demand(Object.keys(gpus).length === names.length, 'gpu_refused', 'number of GPUs')
  for (const name of names) {
    const token = textIn(gpus, name, mostText)
    demand(same(await digest('SHA-256', utf8(token)), namedDigest(submodules, name)), 'signature_invalid', 'GPU token')
    checkGpu(await claimsOf(token, context))
  }
  return { count: names.length, ends: numberIn(claims, 'exp') * 1000 }
}
