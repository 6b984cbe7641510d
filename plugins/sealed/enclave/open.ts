import { BadRequest, Expired, GatewayError, Unavailable } from '../../../core/errors.ts'
import { usualBounds } from '../../../core/dialects/json-scan.ts'
import { readJson } from '../../../core/dialects/read-json.ts'
import { type Pace, freePace } from '../../../core/dialects/loop-time.ts'
import type { Soon } from '../../../core/ports/soon.ts'
import type { OrderedJson } from '../../../core/ports/upstream.ts'
import { type Check, bytesOf, checks } from '../wire/body.ts'
import { same, utf8, readHex, toHex } from '../wire/bytes.ts'
import { kemOf } from '../wire/kem.ts'
import { requestPieces } from '../wire/receipt.ts'
import { open } from '../wire/seal.ts'
import { bufferOf } from '../../shared/backend.ts'
import { digestInTurns, longBytes, openInTurns } from './long-bytes.ts'
import { type SealedRefusalCode, Refusal } from './refusals.ts'
import type { Epochs, HeldKey } from './epochs.ts'

/** The fields of a request as they came, of which none is checked yet. */
export type Sealed = Readonly<Record<string, unknown>>

/** An opened request. Its items are in the replay table. */
export interface OpenedRequest {
  /** The sealed JSON without the fields that bind it. */
  readonly params: Readonly<Record<string, unknown>>
  /** The sealed JSON with Maps for objects, so that keys keep their order. Present when the route wants it. */
  readonly ordered?: OrderedJson
  readonly secret: Uint8Array
  readonly nonce: Uint8Array
  /** The route that the answer names inside its seal; null when the request does not ask for it. */
  readonly named: string | null
  /** The plaintext of each further part, by its field. */
  readonly parts: Readonly<Record<string, Uint8Array>>
  /** The key of the request and the digest of its sealed bytes; null when no receipt is asked for. */
  readonly receipt: { readonly key: HeldKey; readonly digest: Uint8Array; readonly route: string } | null
}

/** The outer fields of a route: the sealed JSON, its nonce, and further parts with their nonces. */
export interface OuterFields {
  readonly cipherText: { readonly field: 'cipherText' | 'cipher_text'; readonly check: Check }
  /** Null when the request seals only keys. */
  readonly params: { readonly field: string; readonly nonce: string } | null
  readonly parts: Readonly<Record<string, { readonly nonce: string; readonly check: Check }>>
  readonly kid: string
  /** Required cleartext fields. */
  readonly open?: Readonly<Record<string, Check>>
  /** True when the order of keys has a meaning. */
  readonly ordered?: true
  /** In bytes: the longest sealed JSON that is read. */
  readonly mostParams?: number
  /** The field that may be large, and its limit in bytes. */
  readonly big?: { readonly field: string; readonly most: number }
}

/** One sentence for a wrong key, changed bytes and a replay: an attacker learns nothing from the difference. */
const undecryptable = 'The request could not be decrypted'

/** Sealed bytes with their nonce. */
interface Part {
  readonly nonce: Uint8Array
  readonly bytes: Uint8Array
}

interface NamedPart extends Part {
  readonly field: string
}

/** The sealed bytes of a request, decoded. */
interface SealedBytes {
  readonly cipherText: Uint8Array
  /** The sealed JSON; null when the request seals only keys. */
  readonly params: Uint8Array | null
  readonly nonce: Uint8Array
  readonly parts: readonly NamedPart[]
  /** The key that the request names; null when it names none. */
  readonly kid: string | null
}

/** Checks run in a fixed order. Every failure from decapsulation to replay gives the same error. */
export const requestOpener =
  (epochs: Epochs, requireBinding: boolean) =>
  async (route: string, outer: OuterFields, sealed: Sealed, pace: Pace = freePace()): Promise<OpenedRequest> => {
    const bytes = decodedFields(outer, sealed)
    const { params, nonce, parts } = bytes
    const named = keysFor(epochs, outer, bytes)
    if (sharesNonce([...(params === null ? [] : [{ nonce, bytes: params }]), ...parts]))
      throw new BadRequest('Nonces must differ', { validator: { nonce: 'Expected distinct nonces' } })
    for (const key of named) {
      const opened = await openedBy(key, { epochs, requireBinding, route, outer, pace }, bytes)
      if (opened !== null) return opened
    }
    throw new BadRequest(undecryptable)
  }

/** A large part that was decoded while it arrived needs no check. */
const unlessDecoded =
  (check: Check): Check =>
  (part) =>
    decoded(part) === null ? check(part) : null

const kidCheck: Check = (kid) => (kid == null ? null : checks.enclaveKid(kid))

type FieldCheck = readonly [field: string, check: Check]

const checksOf = ({ cipherText, params, parts, open = {}, kid }: OuterFields): readonly FieldCheck[] => [
  [cipherText.field, cipherText.check],
  ...(params === null ? [] : partChecks(params.field, { nonce: params.nonce, check: checks.params })),
  ...Object.entries(parts).flatMap(([field, part]) => partChecks(field, part)),
  ...Object.entries(open),
  [kid, kidCheck],
]

const partChecks = (field: string, { nonce, check }: OuterFields['parts'][string]): readonly FieldCheck[] => [
  [field, unlessDecoded(check)],
  [nonce, checks.nonce],
]

/** Wrong fields that one refusal names. */
const mostNamed = 20

/** Decodes the fields. Throws BadRequest that names those that are wrong. */
const decodedFields = (outer: OuterFields, sealed: Sealed): SealedBytes => {
  const wrong = checksOf(outer).flatMap(([field, check]) => {
    const expected = check(sealed[field])
    return expected === null ? [] : [[field, expected] as const]
  })
  if (wrong.length > 0)
    throw new BadRequest('Validation failed', { validator: Object.fromEntries(wrong.slice(0, mostNamed)) })
  const bytes = (field: string) => decoded(sealed[field]) ?? bytesOf(sealed[field] as string)
  const { params, kid } = outer
  return {
    cipherText: bytes(outer.cipherText.field),
    params: params === null ? null : bytes(params.field),
    nonce: params === null ? none : bytes(params.nonce),
    parts: Object.entries(outer.parts).map(([field, { nonce }]) => ({
      field,
      bytes: bytes(field),
      nonce: bytes(nonce),
    })),
    kid: sealed[kid] == null ? null : (sealed[kid] as string).toLowerCase(),
  }
}

/** The keys that may open the request. Throws when its kind is switched off, and when the enclave has no such key. */
const keysFor = (epochs: Epochs, outer: OuterFields, { cipherText, kid }: SealedBytes): readonly HeldKey[] => {
  const kem = kemOf(cipherText.length)!
  const candidates = epochs.candidates(kem)
  if (candidates === null)
    throw new BadRequest('This key encapsulation is switched off', {
      validator: { [outer.cipherText.field]: 'Expected another kind' },
    })
  const named = kid === null ? candidates : candidates.filter((key) => key.kid === kid)
  if (named.length === 0)
    throw new Expired('Unknown or expired enclave key', { validator: { [outer.kid]: 'Expected a published key' } })
  return named
}

interface Opening {
  readonly epochs: Epochs
  readonly requireBinding: boolean
  readonly route: string
  readonly outer: OuterFields
  readonly pace: Pace
}

/** Nanoseconds of one key agreement: calls that come together open one in a turn of the loop. */
const decapsulationNs = 1_500_000

/** Null when this key does not open the request. */
const openedBy = async (key: HeldKey, opening: Opening, bytes: SealedBytes): Promise<OpenedRequest | null> => {
  const { epochs, requireBinding, route, outer, pace } = opening
  const { cipherText, params, nonce, parts } = bytes
  await pace.spend(decapsulationNs)
  const secret = decapsulated(key.open, cipherText)
  if (secret === null) return null
  const plain = params === null ? null : await openedBytes(secret, nonce, params)
  if (plain !== null && plain.length > (outer.mostParams ?? Infinity)) {
    enter(epochs, key, cipherText)
    throw new SealedRefusal('invalid_parameters', { secret, named: endsAsking(plain) ? route : null })
  }
  const json = params === null ? {} : await jsonOf(plain, pace)
  const opened = json === undefined ? null : await openParts(secret, parts)
  if (opened === null) return null
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new BadRequest(undecryptable)
  const { $for: bound, $id: id, $status: asks, ...fields } = json as Record<string, unknown>
  // An empty id names no request: as an entry of the table it would be the same one for all callers.
  const isNamed = typeof id === 'string' && id !== ''
  enter(epochs, key, cipherText, ...(isNamed ? [readHex(id, 64) ?? utf8(id.slice(0, 64))] : []))
  const { receipt: wanted, ...rest } = fields
  const digest = wanted === true ? await digestInTurns(requestPieces(sealedParts(bytes))) : null
  const receipt = digest && { key, route, digest }
  const asker = { secret, named: asks === true ? route : null }
  const kept = outer.ordered && plain !== null ? { ordered: await orderedOf(plain, asker, pace) } : {}
  const request = {
    ...{ params: wanted === true ? rest : fields, secret, nonce, parts: opened, receipt },
    named: asker.named,
    ...kept,
  }
  const unbound = bound === undefined ? requireBinding && params !== null : bound !== route
  if (unbound) throw new SealedRefusal('sealed_elsewhere', request)
  return request
}

/** All sealed bytes, in the order of a receipt. */
const sealedParts = ({ cipherText, nonce, params, parts }: SealedBytes): readonly Uint8Array[] => [
  cipherText,
  ...(params === null ? [] : [nonce, params]),
  ...parts.toSorted((one, other) => (one.field < other.field ? -1 : 1)).flatMap(({ nonce, bytes }) => [nonce, bytes]),
]

/** True when one nonce sealed different bytes. The same bytes may occur twice, such as one key for several files. */
const sharesNonce = (parts: readonly Part[]): boolean => {
  const seen = new Map<string, Uint8Array>()
  return parts.some(({ nonce, bytes }) => {
    const name = toHex(nonce)
    const before = seen.get(name)
    seen.set(name, bytes)
    return before !== undefined && !same(before, bytes)
  })
}

/** Throws Unavailable when the table is full, and BadRequest when the request was opened before. */
const enter = (epochs: Epochs, ...given: Parameters<Epochs['enter']>): void => {
  const entered = epochs.enter(...given)
  if (entered === 'full') throw new Unavailable()
  if (entered === 'seen') throw new BadRequest(undecryptable)
}

/** A refusal after opening. Its caller gets the refusal sealed. */
export class SealedRefusal extends Refusal {
  readonly asker: Pick<OpenedRequest, 'secret' | 'named'>
  constructor(code: SealedRefusalCode, asker: Pick<OpenedRequest, 'secret' | 'named'>) {
    super(code)
    this.asker = asker
  }
}

/** In bytes: the end of sealed JSON, padding included, where our clients ask for the status of the answer. */
const ending = 512

/** True when JSON that is too long to read asks for the status. Only the form of the refusal depends on it. */
const endsAsking = (plain: Uint8Array): boolean => Buffer.from(plain.subarray(-ending)).includes('"$status":true')

/** The nonce of a request without sealed JSON; nothing is opened with it. */
const none = new Uint8Array(24)

/** A large part that was decoded while it arrived. Null for a part that its check must still examine. */
const decoded = (part: unknown): Uint8Array | null => (part instanceof Uint8Array && part.length > 16 ? part : null)

/** Objects in the order sent. Throws SealedRefusal when a key occurs twice: its name is the caller's own word. */
const orderedOf = async (plain: Uint8Array, asker: SealedRefusal['asker'], pace: Pace): Promise<OrderedJson> => {
  try {
    return (await readJson(bufferOf(plain), 'ordered', usualBounds, pace)) as OrderedJson
  } catch (error) {
    throw error instanceof BadRequest ? new SealedRefusal('invalid_parameters', asker) : error
  }
}

/** `undefined` when the bytes did not open, are not JSON, are nested too deep or have too many elements. */
const jsonOf = async (plain: Uint8Array | null, pace: Pace): Promise<unknown> => {
  try {
    return plain === null ? undefined : await readJson(bufferOf(plain), 'plain', usualBounds, pace)
  } catch (error) {
    if (error instanceof GatewayError && !(error instanceof BadRequest)) throw error
    return undefined
  }
}

/** Null when the bytes do not open. Long bytes open in turns of the loop. */
const openedBytes = (secret: Uint8Array, nonce: Uint8Array, bytes: Uint8Array): Soon<Uint8Array | null> =>
  bytes.length > longBytes ? openInTurns(secret, nonce, bytes) : open(secret, nonce, bytes)

/** All parts, or null when one part does not open. */
const openParts = async (
  secret: Uint8Array,
  parts: readonly NamedPart[],
): Promise<Record<string, Uint8Array> | null> => {
  const opened: Record<string, Uint8Array> = {}
  for (const { field, bytes, nonce } of parts) {
    const plain = await openedBytes(secret, nonce, bytes)
    if (plain === null) return null
    opened[field] = plain
  }
  return opened
}

/** Null for a cipher text that gives no secret, such as a point of low order. */
const decapsulated = (open: (cipherText: Uint8Array) => Uint8Array, cipherText: Uint8Array): Uint8Array | null => {
  try {
    return open(cipherText)
  } catch {
    return null
  }
}
