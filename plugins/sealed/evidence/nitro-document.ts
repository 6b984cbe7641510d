import { concat, utf8, toHex } from '../wire/bytes.ts'
import { type Cbor, readCbor } from './cbor.ts'
import { type Certificate, readCertificate } from './certificate.ts'
import { demand, refuse } from './reasons.ts'

/** The attestation document of a Nitro enclave. */
export type NitroDocument = Readonly<ReturnType<typeof readDocument>>

/** In bytes: the longest document that is read. */
export const mostDocument = 16 * 1024

const malformed = (what: string): never => refuse('evidence_malformed', what)

// A NitroTPM document has `nitrotpm_pcrs`, so this list refuses it.
const members = [
  'module_id',
  'digest',
  'timestamp',
  'pcrs',
  'certificate',
  'cabundle',
  'public_key',
  'user_data',
  'nonce',
]
/** The protected header { 1: -35 }, as CBOR in hex: ECDSA with SHA-384 and nothing else. */
const es384 = 'a1013822'
const mostCertificates = 8
const mostRegisters = 32

/** The CBOR header of a byte string of this length. */
const stringHead = (length: number): Uint8Array => {
  if (length < 24) return Uint8Array.of(0x40 | length)
  return length < 256 ? Uint8Array.of(0x58, length) : Uint8Array.of(0x59, length >> 8, length & 0xff)
}

const bytesIn = (value: Cbor | undefined, name: string): Uint8Array =>
  value instanceof Uint8Array ? value : malformed(name)

const registersOf = (value: Cbor | undefined): ReadonlyMap<number, Uint8Array> => {
  if (!(value instanceof Map) || value.size > mostRegisters) return malformed('pcrs')
  const registers = new Map<number, Uint8Array>()
  for (const [index, register] of value as ReadonlyMap<string | number, Cbor>) {
    const fits = typeof index === 'number' && index >= 0 && index < mostRegisters
    if (!fits || !(register instanceof Uint8Array) || register.length !== 48) return malformed('pcrs')
    registers.set(index, register)
  }
  return registers
}

/** The bundle begins at the root, and a chain here begins at the leaf. */
const chainOf = (leaf: Cbor | undefined, bundle: Cbor | undefined): readonly Certificate[] => {
  if (!Array.isArray(bundle) || bundle.length === 0 || bundle.length > mostCertificates) return malformed('cabundle')
  const all = [leaf, ...(bundle as readonly Cbor[]).toReversed()]
  return all.map((part) => readCertificate(bytesIn(part, 'certificate')))
}

/** Throws `evidence_malformed` unless the bytes are a COSE_Sign1 around the members of an enclave's document. */
export const readDocument = (document: Uint8Array) => {
  demand(document.length <= mostDocument, 'evidence_malformed', 'document')
  const tagged = document[0] === 0xd2
  const parts = readCbor(tagged ? document.subarray(1) : document)
  if (!Array.isArray(parts) || parts.length !== 4) return malformed('document')
  const [head, open, body, made] = parts as readonly Cbor[]
  const [shielded, payload, signature] = [bytesIn(head, 'header'), bytesIn(body, 'payload'), bytesIn(made, 'signature')]
  demand(toHex(shielded) === es384, 'evidence_malformed', 'header')
  demand(open instanceof Map && open.size === 0, 'evidence_malformed', 'header')
  demand(signature.length === 96, 'evidence_malformed', 'signature')

  const payloadItem = readCbor(payload)
  if (!(payloadItem instanceof Map)) return malformed('payload')
  for (const name of payloadItem.keys()) demand(members.includes(name as string), 'evidence_malformed', 'member')
  demand(
    typeof payloadItem.get('module_id') === 'string' && payloadItem.get('digest') === 'SHA384',
    'evidence_malformed',
    'digest',
  )
  const timestamp = payloadItem.get('timestamp')
  if (typeof timestamp !== 'number' || timestamp < 0) return malformed('timestamp')
  const userData = payloadItem.get('user_data')
  return {
    /** In ms. */
    timestamp,
    /** 48 bytes each, by index. */
    pcrs: registersOf(payloadItem.get('pcrs')),
    /** Leaf first. */
    chain: chainOf(payloadItem.get('certificate'), payloadItem.get('cabundle')),
    /** Null when the enclave gave none; a gateway's enclave puts its report data here. */
    userData: userData === undefined || userData === null ? null : bytesIn(userData, 'user_data'),
    // Sig_structure with an empty external part.
    /** The Sig_structure of COSE (RFC 9052) that the leaf's key signed. */
    signed: concat(
      Uint8Array.of(0x84, 0x6a),
      utf8('Signature1'),
      stringHead(shielded.length),
      shielded,
      Uint8Array.of(0x40),
      stringHead(payload.length),
      payload,
    ),
    /** r‖s, 96 bytes. */
    signature,
  }
}
