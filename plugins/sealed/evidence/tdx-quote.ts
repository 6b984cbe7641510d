import { isZero, littleEndian, unsigned } from './fields.ts'
import { demand, refuse } from './reasons.ts'

/** The module's measurements of a trust domain. */
export type TdxBody = Readonly<ReturnType<typeof readBody>>

/** A report of the quoting enclave. */
export type QuotingReport = Readonly<ReturnType<typeof readQuoting>>

/** A TDX quote, versions 4 and 5. The signature is r‖s, the key that made it x‖y, and the chain PEM, leaf first. */
export type TdxQuote = Readonly<ReturnType<typeof readQuote>>

export const mostQuote = 16 * 1024

const headSize = 48
const vendor = [0x93, 0x9a, 0x72, 0x33, 0xf7, 0x9c, 0x4c, 0xa9, 0x94, 0x0a, 0x0d, 0xb3, 0x95, 0x7f, 0x06, 0x07]
const sizes = { body: 584, longBody: 648, report: 384, certified: 6, pem: 5 }

/** Takes consecutive bytes. Throws `evidence_malformed` when too few are left. */
const taking = (bytes: Uint8Array) => {
  let at = 0
  const take = (length: number): Uint8Array => {
    demand(at + length <= bytes.length, 'evidence_malformed', 'quote is cut')
    return bytes.subarray(at, (at += length))
  }
  return {
    take,
    number: (size: 2 | 4): number => unsigned(take(size), 0, size),
    rest: (): Uint8Array => bytes.subarray(at),
    at: (): number => at,
  }
}

const readBody = (bytes: Uint8Array) => {
  const field = (at: number, length = 48): Uint8Array => bytes.slice(at, at + length)
  return {
    tcbSvn: field(0, 16),
    seamSigner: field(64),
    seamAttributes: field(112, 8),
    attributes: littleEndian(bytes, 120, 8),
    xfam: littleEndian(bytes, 128, 8),
    mrtd: field(136),
    configId: field(184),
    owner: field(232),
    ownerConfig: field(280),
    /** Four registers. */
    rtmr: [328, 376, 424, 472].map((at) => field(at)),
    reportData: field(520, 64),
    /** Absent in bodies of 584 bytes. */
    serviceTd: bytes.length === sizes.longBody ? field(600) : null,
  }
}

const readQuoting = (whole: Uint8Array) => ({
  whole,
  miscselect: whole.slice(16, 20),
  attributes: whole.slice(48, 64),
  signer: whole.slice(128, 160),
  productId: unsigned(whole, 256, 2),
  svn: unsigned(whole, 258, 2),
  reportData: whole.slice(320, 384),
})

const bodySize = (version: number, from: ReturnType<typeof taking>): number => {
  if (version === 4) return sizes.body
  const [type, size] = [from.number(2), from.number(4)]
  const known = (type === 2 && size === sizes.body) || (type === 3 && size === sizes.longBody)
  return known ? size : refuse('evidence_malformed', 'quote body')
}

/** Throws `evidence_malformed` unless the bytes are a TDX quote; only zeros may follow it. */
export const readQuote = (quote: Uint8Array) => {
  demand(quote.length <= mostQuote, 'evidence_malformed', 'quote')
  const from = taking(quote)
  const head = from.take(headSize)
  const version = unsigned(head, 0, 2)
  demand(version === 4 || version === 5, 'evidence_malformed', 'quote version')
  demand(unsigned(head, 2, 2) === 2, 'evidence_malformed', 'type of the attestation key')
  demand(unsigned(head, 4, 4) === 0x81, 'evidence_malformed', 'type of the quote')
  demand(
    vendor.every((byte, at) => head[12 + at] === byte),
    'evidence_malformed',
    'vendor of the quoting enclave',
  )
  const body = from.take(bodySize(version, from))
  const signed = quote.subarray(0, from.at())

  const data = taking(from.take(from.number(4)))
  demand(isZero(from.rest()), 'evidence_malformed', 'bytes behind the quote')
  const signature = data.take(64)
  const attestationKey = data.take(64)
  demand(data.number(2) === sizes.certified, 'evidence_malformed', 'certification data')
  const certified = taking(data.take(data.number(4)))
  demand(data.rest().length === 0, 'evidence_malformed', 'certification data')
  const quoting = readQuoting(certified.take(sizes.report))
  const quotingSignature = certified.take(64)
  const authentication = certified.take(certified.number(2))
  demand(certified.number(2) === sizes.pem, 'evidence_malformed', 'certificates of the quote')
  const chain = certified.take(certified.number(4))
  demand(certified.rest().length === 0, 'evidence_malformed', 'certificates of the quote')
  return {
    version,
    body: readBody(body),
    ...{ signed, signature, attestationKey, quoting, quotingSignature, authentication, chain },
  }
}
