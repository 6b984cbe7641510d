import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { concat } from '../../../plugins/sealed/wire/bytes.ts'
import type { ServiceLists } from '../../../plugins/sealed/evidence/services/service-policy.ts'
import { type Signer, curveSigner, makeCertificate } from './certificates.ts'
import { hex } from './der.ts'
import { makeSnp } from './snp.ts'
import { type TdxOptions, makeTdx } from './tdx.ts'

export const madeAt = Date.parse('2026-11-01T12:00:00Z')
export const nonce = new Uint8Array(32).fill(0x5a)
export const tlsKey = new Uint8Array(32).fill(0x71)
const signer = new Uint8Array(32).fill(0x51)

const hash = (algorithm: 'sha256' | 'sha384', ...parts: readonly (Uint8Array | string)[]): Uint8Array => {
  const made = createHash(algorithm)
  for (const part of parts) made.update(part)
  return new Uint8Array(made.digest())
}
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** A document, and the evidence that its reports are completed to. */
export interface Made {
  document: any
  readonly evidence: Readonly<Record<string, object>>
  readonly testRoots: object
}

/** One line of the log of a machine. */
export interface LoggedEvent {
  imr: number
  event_type: number
  digest: string
  event: string
  event_payload: string
}

const bootEvent = (imr: number): LoggedEvent => ({
  ...{ imr, event_type: 4, event: '', event_payload: '00' },
  digest: hexOf(hash('sha384', `boot ${imr}`)),
})

/** An event of register 3, as the system of the machine measures it. */
export const appEvent = (event: string, payload: Uint8Array): LoggedEvent => ({
  ...{ imr: 3, event_type: 0x08000001, event, event_payload: hexOf(payload) },
  digest: hexOf(hash('sha384', hex('01000008'), `:${event}:`, payload)),
})

const registersOf = (log: readonly LoggedEvent[]): readonly Uint8Array[] =>
  [0, 1, 2, 3].map((register) =>
    log
      .filter(({ imr }) => imr === register)
      .reduce<Uint8Array>((sum, { digest }) => hash('sha384', sum, hex(digest)), new Uint8Array(48)),
  )

export const compose = '{"name":"quiet","docker_compose_file":"services: {}"}'
const composeHash = hash('sha256', compose)
const appId = new Uint8Array(20).fill(0x0a)
const keyProvider = new TextEncoder().encode('{"name":"kms"}')

const log = (): LoggedEvent[] => [
  ...[0, 1, 2].map(bootEvent),
  appEvent('app-id', appId),
  appEvent('compose-hash', composeHash),
  appEvent('instance-id', new Uint8Array(20).fill(3)),
  appEvent('key-provider', keyProvider),
]

/** What a machine that answers by itself binds, and when. */
export interface OwnKeys {
  readonly tls: Uint8Array
  readonly seal: Uint8Array
  readonly nonce: Uint8Array
  readonly now: number
}

/** What the documents of a table bind. */
const usual: OwnKeys = { tls: tlsKey, seal: signer, nonce, now: madeAt }

export interface DstackChanges {
  readonly own?: OwnKeys
  /** Before the log is measured. */
  readonly measured?: (log: LoggedEvent[]) => void
  /** Of the quote, before it is signed. */
  readonly body?: (body: Uint8Array) => void
  readonly reportData?: Uint8Array
  readonly tdx?: Partial<TdxOptions>
  readonly withoutTls?: boolean
}

/** A machine of dstack with a proxy that serves models. */
export const makeDstack = (changes: DstackChanges = {}): Made => {
  const { tls, seal, nonce: asked, now } = changes.own ?? usual
  const events = log()
  changes.measured?.(events)
  const subject = changes.withoutTls === true ? seal : hash('sha256', seal, tls)
  const made = makeTdx({
    now,
    shared: true,
    reportData: changes.reportData ?? concat(subject, asked),
    body(body) {
      for (const [at, register] of registersOf(events).entries()) body.set(register, 328 + 48 * at)
      body.set(concat(Uint8Array.of(1), composeHash), 184)
      changes.body?.(body)
    },
    ...changes.tdx,
  })
  const { quote } = made.evidence
  const document = {
    ...{ signing_address: hexOf(seal), signing_algo: 'ed25519', request_nonce: hexOf(asked), intel_quote: quote },
    event_log: events,
    info: { tcb_info: { app_compose: compose } },
    ...(changes.withoutTls !== true && { tls_cert_fingerprint: hexOf(tls) }),
  }
  return { document, evidence: { [quote]: made.evidence }, testRoots: { tdx: made.roots } }
}

const actions = [
  {
    timestamp: '2026-03-12T11:39:24+00:00',
    action: 'compose_up',
    tag: 'v1',
    commit: 'c0',
    file: 'a.yaml',
    file_sha256: '77'.repeat(32),
  },
  {
    timestamp: '2026-03-13T11:39:24+00:00',
    action: 'compose_down',
    tag: 'v1',
    commit: 'c0',
    file: 'a.yaml',
    services: ['one'],
  },
]

/** A model of NEAR with its manager, behind a gateway or alone. */
export const makeNear = (behindGateway: boolean, changes: DstackChanges = {}): Made => {
  const { own = usual } = changes
  const model = makeDstack(changes)
  const list = hash('sha256', JSON.stringify(actions))
  const manager = makeDstack({ own, reportData: concat(list, own.nonce) })
  const { intel_quote: quote } = manager.document
  model.document.compose_manager_attestation = {
    // The service writes the members in another order than its manager hashes them.
    actions: actions.map((action) => Object.fromEntries(Object.entries(action).reverse())),
    ...{ nonce: hexOf(own.nonce), quote },
  }
  const gateway = behindGateway ? makeDstack() : null
  return {
    document: gateway
      ? { gateway_attestation: gateway.document, model_attestations: [model.document] }
      : model.document,
    evidence: { ...model.evidence, ...manager.evidence, ...gateway?.evidence },
    testRoots: model.testRoots,
  }
}

/** An enclave of Tinfoil. */
export const makeTinfoil = (
  platform: 'tdx' | 'sev-snp',
  gpu: object | null = null,
  { tls, seal, nonce: asked, now }: OwnKeys = { tls: tlsKey, seal: new Uint8Array(32).fill(0x99), nonce, now: madeAt },
): Made => {
  const gpuHash = gpu === null ? null : hash('sha256', JSON.stringify(gpu))
  const bound = hash('sha256', tls, seal, asked, ...(gpuHash === null ? [] : [gpuHash]))
  const reportData = concat(bound, new Uint8Array(32))
  const boot = (body: Uint8Array) => body.fill(0, 472, 520)
  const tdx = platform === 'tdx' ? makeTdx({ now, shared: true, reportData, body: boot }) : null
  const snp = tdx === null ? makeSnp({ now, reportData }) : null
  const evidence = (tdx ?? snp)!.evidence as unknown as Record<string, string>
  const raw = (evidence['quote'] ?? evidence['report'])!
  const document = {
    format: 'https://tinfoil.sh/predicate/attestation/v3',
    report_data: {
      ...{ tls_key_fp: hexOf(tls), hpke_key: hexOf(seal), nonce: hexOf(asked) },
      ...(gpuHash !== null && { gpu_evidence_hash: hexOf(gpuHash) }),
    },
    cpu: { platform, report: Buffer.from(raw, 'hex').toString('base64') },
    ...(gpu !== null && { gpu }),
  }
  const testRoots = tdx === null ? { 'sev-snp': { Genoa: hex(snp!.root) } } : { tdx: tdx.roots }
  return { document, evidence: { [raw]: evidence }, testRoots }
}

/** What accepts all of the above. */
export const lists = (): Required<Omit<ServiceLists, 'gpu'>> => {
  const [rtmr0, rtmr1, rtmr2] = registersOf(log()).map(hexOf) as [string, string, string]
  const mrtd = 'ab'.repeat(48)
  const dstack = () => ({
    systems: [{ name: 'quiet', mrtd, rtmr0: [rtmr0], rtmr1, rtmr2 }],
    compose: [hexOf(composeHash)],
    apps: [hexOf(appId)],
    keyProviders: [hexOf(hash('sha256', keyProvider))],
  })
  const register = 'cd'.repeat(48)
  return {
    tinfoil: {
      images: [{ name: 'quiet', 'sev-snp': 'ab'.repeat(48), tdx: { rtmr1: register, rtmr2: register } }],
      hardware: [{ mrtd, rtmr0: register }],
    },
    dstack: dstack(),
    near: { model: dstack(), gateway: dstack(), workloads: ['77'.repeat(32)] },
  }
}

const rsa = (): Signer => {
  const { privateKey: secret, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signed = (data: Uint8Array) => new Uint8Array(sign('sha256', data, secret))
  const info = new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }))
  return { secret, info, algorithm: hex('300d06092a864886f70d01010b0500'), sign: signed, flat: signed }
}

const gpuIssuer = rsa()
const gpuKey = curveSigner('p384')
const otherKey = curveSigner('p384')

export interface GpuChanges {
  readonly whole?: (claims: any) => void
  readonly one?: (claims: any) => void
  readonly header?: object
  readonly by?: 'other'
  readonly dates?: { readonly notBefore: number; readonly notAfter: number }
  readonly tokens?: (tokens: any) => void
}

const token = (claims: object, { header, by }: GpuChanges): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ kid: 'one', alg: 'ES384', ...header })}.${part(claims)}`
  const signature = (by === 'other' ? otherKey : gpuKey).flat(Buffer.from(text))
  return `${text}.${Buffer.from(signature).toString('base64url')}`
}

/** The answer of a GPU service over the nonce, and the SHA-256 of the issuer of its keys. */
export const makeGpu = (changes: GpuChanges = {}) => {
  const dates = changes.dates ?? { notBefore: madeAt - 86_400_000, notAfter: madeAt + 86_400_000 }
  const own = { issuer: 'gpu issuer', subject: 'gpu issuer', ...dates, key: gpuIssuer, by: gpuIssuer, extensions: [] }
  const issuer = makeCertificate({ serial: 1, ...own })
  const leaf = makeCertificate({ serial: 2, ...own, subject: 'gpu', key: gpuKey })
  const seconds = madeAt / 1000
  const times = { iat: seconds - 60, nbf: seconds - 60, exp: seconds + 3540 }
  const common = { iss: 'https://nras.attestation.nvidia.com', eat_nonce: hexOf(nonce), ...times }
  const one: any = {
    ...common,
    ...{ measres: 'success', dbgstat: 'disabled', secboot: true },
    'x-nvidia-gpu-attestation-report-nonce-match': true,
    'x-nvidia-gpu-attestation-report-signature-verified': true,
    'x-nvidia-gpu-attestation-report-cert-chain-validated': true,
    'x-nvidia-gpu-arch-check': true,
  }
  changes.one?.(one)
  const single = token(one, {})
  const whole: any = {
    ...common,
    sub: 'NVIDIA-PLATFORM-ATTESTATION',
    'x-nvidia-overall-att-result': true,
    submods: { 'GPU-0': ['DIGEST', ['SHA-256', hexOf(hash('sha256', single))]] },
  }
  changes.whole?.(whole)
  const tokens: any = [['JWT', token(whole, changes)], { 'GPU-0': single }]
  changes.tokens?.(tokens)
  const x5c = [leaf, issuer].map((certificate) => Buffer.from(certificate).toString('base64'))
  return {
    statement: { tokens: JSON.stringify(tokens), keys: JSON.stringify({ keys: [{ kid: 'one', kty: 'EC', x5c }] }) },
    issuers: [hexOf(hash('sha256', issuer))],
  }
}
