import { createHash } from 'node:crypto'
import { concat, toHex } from '../../../plugins/sealed/wire/bytes.ts'
import {
  type CertificateParts,
  type ListParts,
  type Signer,
  constraints,
  curveSigner,
  extension,
  keyUsage,
  makeCertificate,
  makeList,
  pemOf,
} from './certificates.ts'
import { hex, integer, octetString, oid, sequence } from './der.ts'

const day = 86_400_000
const little = (value: number, size: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, at) => (value / 256 ** at) & 0xff)
const instant = (time: number): string => new Date(time).toISOString().replace(/\.\d+/, '')
const sha256 = (...parts: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(
    createHash('sha256')
      .update(concat(...parts))
      .digest(),
  )

export const tdxKeys = {
  root: curveSigner('p256'),
  authority: curveSigner('p256'),
  pck: curveSigner('p256'),
  tcb: curveSigner('p256'),
  attestation: curveSigner('p256'),
  other: curveSigner('p256'),
}

const arc = '1.2.840.113741.1.13.1'
const components = [3, 3, 2, 2, 4, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0]
const tdxComponents = [5, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

/** What the PCK says, so that a case can change a part of it. */
export interface PckSaid {
  fmspc: Uint8Array
  pceid: Uint8Array
  ppid: Uint8Array
  components: number[]
  pcesvn: number
}

const pckExtension = ({ fmspc, pceid, ppid, components, pcesvn }: PckSaid, twice: boolean): Uint8Array => {
  const pair = (id: string, value: Uint8Array) => sequence(oid(`${arc}.${id}`), value)
  const levels = [...components, pcesvn].map((level, at) => pair(`2.${at + 1}`, integer(level)))
  return extension(
    arc,
    sequence(
      pair('1', octetString(ppid)),
      pair('2', sequence(...levels)),
      pair('3', octetString(pceid)),
      pair('4', octetString(fmspc)),
      ...(twice ? [pair('4', octetString(fmspc))] : []),
    ),
  )
}

const component = (svns: readonly number[]) => svns.map((svn) => ({ svn }))

/** A level of the platform; higher numbers are newer. */
export const levelOf = (
  status: string,
  change: { sgx?: readonly number[]; tdx?: readonly number[]; pcesvn?: number; advisories?: readonly string[] } = {},
) => ({
  tcb: {
    sgxtcbcomponents: component(change.sgx ?? components),
    pcesvn: change.pcesvn ?? 13,
    tdxtcbcomponents: component(change.tdx ?? tdxComponents),
  },
  tcbDate: '2024-11-13T00:00:00Z',
  tcbStatus: status,
  ...(change.advisories && { advisoryIDs: change.advisories }),
})

export const sgx = (at: number, by: number): readonly number[] =>
  components.map((svn, index) => (index === at ? svn + by : svn))
export const tdx = (at: number, by: number): readonly number[] =>
  tdxComponents.map((svn, index) => (index === at ? svn + by : svn))

const infoOf = (now: number) => ({
  id: 'TDX',
  version: 3,
  issueDate: instant(now - 5 * day),
  nextUpdate: instant(now + 25 * day),
  fmspc: '90C06F000000',
  pceId: '0000',
  tcbType: 0,
  tcbEvaluationDataNumber: 18,
  tdxModule: { mrsigner: '00'.repeat(48), attributes: '00'.repeat(8), attributesMask: 'FF'.repeat(8) },
  tdxModuleIdentities: [
    {
      ...{ id: 'TDX_01', mrsigner: '00'.repeat(48), attributes: '00'.repeat(8), attributesMask: 'FF'.repeat(8) },
      tcbLevels: [
        { tcb: { isvsvn: 6 }, tcbDate: '2024-11-13T00:00:00Z', tcbStatus: 'UpToDate' },
        { tcb: { isvsvn: 4 }, tcbDate: '2024-03-13T00:00:00Z', tcbStatus: 'OutOfDate', advisoryIDs: ['SA-2'] },
      ],
    },
  ],
  tcbLevels: [
    levelOf('UpToDate'),
    levelOf('OutOfDate', {
      sgx: [2, 2, 2, 2, 3, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0],
      tdx: [5, 0, 2, ...Array(13).fill(0)],
      pcesvn: 5,
      advisories: ['SA-1'],
    }),
  ] as ReturnType<typeof levelOf>[],
})

const identityOf = (now: number) => ({
  id: 'TD_QE',
  version: 2,
  issueDate: instant(now - 5 * day),
  nextUpdate: instant(now + 25 * day),
  tcbEvaluationDataNumber: 18,
  miscselect: '00000000',
  miscselectMask: 'FFFFFFFF',
  attributes: `11${'00'.repeat(15)}`,
  attributesMask: `FBFFFFFFFFFFFFFF${'00'.repeat(8)}`,
  mrsigner: 'DC'.repeat(32),
  isvprodid: 2,
  tcbLevels: [
    { tcb: { isvsvn: 4 }, tcbDate: '2024-11-13T00:00:00Z', tcbStatus: 'UpToDate' },
    { tcb: { isvsvn: 2 }, tcbDate: '2023-11-13T00:00:00Z', tcbStatus: 'OutOfDate', advisoryIDs: ['SA-3'] },
  ],
})

export type Info = ReturnType<typeof infoOf>
export type Identity = ReturnType<typeof identityOf>

export interface TdxOptions {
  readonly now: number
  readonly reportData: Uint8Array
  readonly version?: 4 | 5
  /** The long body of version 5. */
  readonly long?: boolean
  readonly head?: (head: Uint8Array) => void
  readonly body?: (body: Uint8Array) => void
  readonly quoting?: (report: Uint8Array) => void
  /** What the quoting enclave's report says of the attestation key. */
  readonly bound?: Uint8Array
  readonly afterwards?: (quote: Uint8Array) => void
  readonly behind?: Uint8Array
  /** Bytes behind the certificates, or behind the certification data, inside of what holds them. */
  readonly insideCertified?: Uint8Array
  readonly insideData?: Uint8Array
  readonly said?: (extension: PckSaid) => void
  /** Whether the PCK says its fmspc twice. */
  readonly twice?: boolean
  readonly pck?: Partial<CertificateParts>
  readonly authority?: Partial<CertificateParts>
  readonly root?: Partial<CertificateParts>
  readonly tcb?: Partial<CertificateParts>
  readonly rootList?: Partial<ListParts>
  readonly pckList?: Partial<ListParts>
  readonly info?: (info: Info) => void
  readonly identity?: (identity: Identity) => void
  readonly infoSigner?: Signer
  readonly identitySigner?: Signer
  readonly quoteSigner?: Signer
  readonly quotingSigner?: Signer
  /** Machines of one moment have the same root, as real ones do: each signature of a curve makes another certificate. */
  readonly shared?: true
  /** The chain that comes with tcb_info, of PCK instead of the signer. */
  readonly infoChain?: 'pck'
  readonly collateral?: (collateral: Record<string, string>) => void
}

const names = {
  root: 'Intel SGX Root CA',
  authority: 'Intel SGX PCK Platform CA',
  pck: 'Intel SGX PCK Certificate',
  tcb: 'Intel SGX TCB Signing',
}
const authentication = Uint8Array.from({ length: 32 }, (_, at) => at)

const roots = new Map<number, Uint8Array>()

const certificatesOf = (options: TdxOptions) => {
  const { now } = options
  const dates = { notBefore: now - 30 * day, notAfter: now + 300 * day }
  const extension: PckSaid = {
    fmspc: hex('90c06f000000'),
    pceid: hex('0000'),
    ppid: hex('aa'.repeat(16)),
    components: [...components],
    pcesvn: 13,
  }
  options.said?.(extension)
  const usual = () =>
    makeCertificate({
      ...{ serial: 1, issuer: names.root, subject: names.root, ...dates, key: tdxKeys.root, by: tdxKeys.root },
      extensions: [constraints(1), keyUsage(0x06)],
      ...options.root,
    })
  const root = (options.shared === true ? roots.get(now) : undefined) ?? usual()
  if (options.shared === true) roots.set(now, root)
  const authority = makeCertificate({
    ...{ serial: 2, issuer: names.root, subject: names.authority, ...dates, key: tdxKeys.authority, by: tdxKeys.root },
    extensions: [constraints(0), keyUsage(0x06)],
    ...options.authority,
  })
  const pck = makeCertificate({
    ...{ serial: 3, issuer: names.authority, subject: names.pck, ...dates, key: tdxKeys.pck, by: tdxKeys.authority },
    extensions: [pckExtension(extension, options.twice === true)],
    ...options.pck,
  })
  const tcb = makeCertificate({
    ...{ serial: 4, issuer: names.root, subject: names.tcb, ...dates, key: tdxKeys.tcb, by: tdxKeys.root },
    extensions: [keyUsage(0xc0)],
    ...options.tcb,
  })
  return { root, authority, pck, tcb }
}

const quoteOf = (options: TdxOptions, chain: string): Uint8Array => {
  const { version = 4, long = false } = options
  const head = new Uint8Array(48)
  head.set([version, 0, 2, 0, 0x81])
  head.set(hex('939a7233f79c4ca9940a0db3957f0607'), 12)
  options.head?.(head)
  const body = new Uint8Array(long ? 648 : 584)
  body.set([6, 1, 3])
  body.set([0, 0, 0, 0x10], 120)
  body.set([0xe7, 0x02, 0x06], 128)
  body.fill(0xab, 136, 184)
  body.fill(0xcd, 328, 472)
  body.set(options.reportData, 520)
  options.body?.(body)
  const kind = version === 4 ? new Uint8Array(0) : concat(little(long ? 3 : 2, 2), little(body.length, 4))
  const signed = concat(head, kind, body)
  const point = tdxKeys.attestation.info.subarray(-64)
  const report = new Uint8Array(384)
  report[48] = 0x11
  report.fill(0xdc, 128, 160)
  report.set([2, 0, 4, 0], 256)
  report.set(options.bound ?? sha256(point, authentication), 320)
  options.quoting?.(report)
  const pem = Buffer.from(chain, 'latin1')
  const certified = concat(
    report,
    (options.quotingSigner ?? tdxKeys.pck).flat(report),
    little(authentication.length, 2),
    authentication,
    little(5, 2),
    little(pem.length, 4),
    pem,
    options.insideCertified ?? new Uint8Array(0),
  )
  const data = concat(
    (options.quoteSigner ?? tdxKeys.attestation).flat(signed),
    point,
    little(6, 2),
    little(certified.length, 4),
    certified,
    options.insideData ?? new Uint8Array(0),
  )
  const quote = concat(signed, little(data.length, 4), data, options.behind ?? new Uint8Array(0))
  options.afterwards?.(quote)
  return quote
}

/** Evidence of TDX that holds in everything but what the options change, and the hash of its root. */
export const makeTdx = (options: TdxOptions) => {
  const { now } = options
  const { root, authority, pck, tcb } = certificatesOf(options)
  const dates = { issued: now - 10 * day, ends: now + 20 * day }
  const rootList = makeList({ issuer: names.root, ...dates, by: tdxKeys.root, revoked: [0x66], ...options.rootList })
  const pckList = makeList({
    ...{ issuer: names.authority, ...dates, by: tdxKeys.authority, revoked: [0x67] },
    ...options.pckList,
  })
  const [info, identity] = [infoOf(now), identityOf(now)]
  options.info?.(info)
  options.identity?.(identity)
  const [infoText, identityText] = [JSON.stringify(info), JSON.stringify(identity)]
  const signed = (text: string, by: Signer) => toHex(by.flat(Buffer.from(text)))
  const collateral: Record<string, string> = {
    tcb_info: infoText,
    tcb_info_signature: signed(infoText, options.infoSigner ?? tdxKeys.tcb),
    tcb_info_issuer_chain: options.infoChain === 'pck' ? pemOf(pck, authority) : pemOf(tcb, root),
    qe_identity: identityText,
    qe_identity_signature: signed(identityText, options.identitySigner ?? tdxKeys.tcb),
    qe_identity_issuer_chain: pemOf(tcb, root),
    root_ca_crl: toHex(rootList),
    pck_crl: toHex(pckList),
  }
  options.collateral?.(collateral)
  const quote = toHex(quoteOf(options, pemOf(pck, authority, root)))
  return { evidence: { type: 'tdx', v: 1, quote, collateral }, root: toHex(sha256(root)), roots: sha256(root) }
}
