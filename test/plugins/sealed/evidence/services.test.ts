import { existsSync } from 'node:fs'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { completing } from '../../../../adapters/production/evidence/completing.ts'
import { readRecording } from '../../../../adapters/production/evidence/recording.ts'
import { type PlatformPolicy, appraise } from '../../../../plugins/sealed/evidence/appraise.ts'
import { type ServiceQuestion, judgeService } from '../../../../plugins/sealed/evidence/services/judge.ts'
import { rawMembers } from '../../../../plugins/sealed/evidence/services/tinfoil.ts'
import { type ServiceLists, parseServicePolicy } from '../../../../plugins/sealed/evidence/services/service-policy.ts'
import type { Service } from '../../../../plugins/sealed/evidence/services/machine.ts'
import type { SeenNumbers } from '../../../../plugins/sealed/evidence/finding.ts'
import { toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import {
  type GpuChanges,
  type LoggedEvent,
  type Made,
  appEvent,
  lists,
  madeAt,
  makeDstack,
  makeGpu,
  makeNear,
  makeTinfoil,
  nonce,
  tlsKey,
} from '../../../fakes/platform/service-documents.ts'
import { commandRunner } from '../../../fakes/command-runner.ts'
import { withoutChromium } from '../../../fakes/chromium.ts'
import { evidenceTab } from '../../../fakes/evidence-tab.ts'
import { releaseSigner, signedList } from '../../../fakes/platform/releases.ts'
import { refusal } from './samples.ts'

const command = commandRunner(t)

type Row = readonly [
  name: string,
  service: Service,
  made: () => Made,
  wanted: string | null,
  more?: {
    lists?: (lists: ServiceLists) => void
    question?: Partial<ServiceQuestion>
    text?: (text: string) => string
    platform?: PlatformPolicy
  },
]

const judged = async ([, service, make, , more = {}]: Row) => {
  const made = make()
  const accepted: ServiceLists = { ...lists(), gpu: undefined }
  more.lists?.(accepted)
  const plain = JSON.stringify(made.document)
  const text = more.text?.(plain) ?? plain
  const policy = { platform: { ...more.platform, testRoots: made.testRoots }, lists: accepted }
  const question = { nonce, tlsKey, gpu: null, now: madeAt, ...more.question }
  const complete = async (_: string, report: Uint8Array) =>
    (made.evidence[toHex(report)] ?? Object.values(made.evidence)[0]) as Readonly<Record<string, unknown>>
  return judgeService(service, text, policy, question, complete)
}

const changed = (made: Made, change: (document: any) => void): Made => {
  change(made.document)
  return made
}
const other = new Uint8Array(32)
const signer = releaseSigner()
const noticing = (change: object): NonNullable<Row[4]> => {
  const life = { issued: madeAt - 1000, ends: madeAt + 86_400_000 }
  const format = 'sealgate-notices/1'
  const document = signedList({ format, name: 'notices', serial: 1, ...life, ...change }, [signer], format)
  return { platform: { notices: { keys: [signer.key], threshold: 1, document } } }
}
const flip = (hex: string): string => hex.replace(/^../, (byte) => (byte === '00' ? '01' : '00'))

const tinfoil =
  (change: (document: any) => void = () => {}) =>
  () =>
    changed(makeTinfoil('tdx'), change)
const tinfoilGpu =
  (change: (document: any) => void = () => {}) =>
  () =>
    changed(makeTinfoil('tdx', { evidences: [{ arch: 'HOPPER' }] }), change)
/** A machine of another compose file, whose hash begins with a colon. A later event of the same name has the accepted hash. */
const withColon = (): Made => {
  const foreign = Buffer.from(`3a${'11'.repeat(31)}`, 'hex')
  const measured = (log: LoggedEvent[]) => {
    const at = log.findIndex(({ event }) => event === 'compose-hash')
    log.push(log[at]!)
    log[at] = appEvent('compose-hash', foreign)
  }
  // A machine need not name its file in the hardware's own register.
  const made = makeDstack({ measured, body: (body) => body.fill(0, 184, 232) })
  return changed(made, ({ event_log: log }) => {
    const first = log.find(({ event }: LoggedEvent) => event === 'compose-hash')
    Object.assign(first, { event: 'compose-hash:', event_payload: '11'.repeat(31) })
  })
}
const dstack =
  (change: (document: any) => void = () => {}) =>
  () =>
    changed(makeDstack(), change)

const rows: readonly Row[] = [
  ['TDX', 'tinfoil', tinfoil(), null],
  ['SEV-SNP', 'tinfoil', () => makeTinfoil('sev-snp'), null],
  ['evidence of GPUs beside', 'tinfoil', tinfoilGpu(), null],
  ['another form', 'tinfoil', tinfoil((document) => (document.format += 'x')), 'no_verifier: format of tinfoil'],
  ['a body of the second form', 'tinfoil', tinfoil((document) => (document.body = '')), 'evidence_malformed: body'],
  [
    'another platform',
    'tinfoil',
    tinfoil((document) => (document.cpu.platform = 'sgx')),
    'platform_not_allowed: platform',
  ],
  [
    'another key to seal to',
    'tinfoil',
    tinfoil((document) => (document.report_data.hpke_key = flip(document.report_data.hpke_key))),
    'report_data_mismatch',
  ],
  ['another nonce than asked', 'tinfoil', tinfoil(), 'report_data_mismatch: nonce', { question: { nonce: other } }],
  [
    'another TLS key than the live one',
    'tinfoil',
    tinfoil(),
    'report_data_mismatch: tls key',
    { question: { tlsKey: other } },
  ],
  [
    'changed evidence of GPUs',
    'tinfoil',
    tinfoilGpu((document) => (document.gpu.evidences = [])),
    'report_data_mismatch: gpu_evidence_hash',
  ],
  [
    'a hash without evidence',
    'tinfoil',
    tinfoilGpu((document) => delete document.gpu),
    'evidence_malformed: gpu_evidence_hash',
  ],
  [
    'evidence without its hash',
    'tinfoil',
    tinfoilGpu((document) => delete document.report_data.gpu_evidence_hash),
    'evidence_malformed: gpu_evidence_hash',
  ],
  [
    'a member twice',
    'tinfoil',
    tinfoilGpu(),
    'evidence_malformed: a member occurs twice',
    { text: (text) => text.replace('"gpu":', '"gpu":{},"gpu":') },
  ],
  [
    'no list',
    'tinfoil',
    tinfoil(),
    'measurement_not_allowed: the policy names no images of tinfoil',
    { lists: (result) => delete (result as any).tinfoil },
  ],
  [
    'another image',
    'tinfoil',
    tinfoil(),
    'measurement_not_allowed: image',
    { lists: (result) => ((result.tinfoil!.images[0]!.tdx as any).rtmr2 = '00'.repeat(48)) },
  ],
  [
    'other firmware',
    'tinfoil',
    tinfoil(),
    'measurement_not_allowed: hardware',
    { lists: (result) => ((result.tinfoil!.hardware![0] as any).mrtd = '00'.repeat(48)) },
  ],
  [
    'another image of SEV-SNP',
    'tinfoil',
    () => makeTinfoil('sev-snp'),
    'measurement_not_allowed: image',
    { lists: (result) => ((result.tinfoil!.images[0] as any)['sev-snp'] = '00'.repeat(48)) },
  ],

  ['a signer and a TLS key', 'dstack', dstack(), null],
  ['a signer alone', 'dstack', () => makeDstack({ withoutTls: true }), null, { question: { tlsKey: null } }],
  [
    'no TLS key for a live connection',
    'dstack',
    () => makeDstack({ withoutTls: true }),
    'report_data_mismatch: tls key',
  ],
  ['the log as text', 'dstack', dstack((document) => (document.event_log = JSON.stringify(document.event_log))), null],
  [
    'another kind of document',
    'dstack',
    dstack((document) => (document.attestation_type = 'chutes')),
    'no_verifier: attestation_type',
  ],
  [
    'another signer',
    'dstack',
    dstack((document) => (document.signing_address = flip(document.signing_address))),
    'report_data_mismatch',
  ],
  [
    'an unknown kind of signer',
    'dstack',
    dstack((document) => (document.signing_algo = 'rsa')),
    'no_verifier: signing_algo',
  ],
  [
    'the TLS key left out',
    'dstack',
    dstack((document) => delete document.tls_cert_fingerprint),
    'report_data_mismatch',
    { question: { tlsKey: null } },
  ],
  [
    'another nonce',
    'dstack',
    dstack((document) => (document.request_nonce = '00'.repeat(32))),
    'report_data_mismatch: nonce',
  ],
  [
    'a changed payload',
    'dstack',
    dstack((document) => (document.event_log[4].event_payload = flip(document.event_log[4].event_payload))),
    'measurement_not_allowed: digest of an event',
  ],
  [
    'an event left out',
    'dstack',
    dstack((document) => document.event_log.splice(5, 1)),
    'measurement_not_allowed: event_log',
  ],
  [
    'an event of the boot left out',
    'dstack',
    dstack((document) => document.event_log.shift()),
    'measurement_not_allowed: event_log',
  ],
  [
    'another event type',
    'dstack',
    dstack((document) => (document.event_log[4].event_type = 1)),
    'evidence_malformed: event_type',
  ],
  [
    'a register that TDX has not',
    'dstack',
    dstack((document) => (document.event_log[4].imr = 4)),
    'evidence_malformed: imr',
  ],
  [
    'two hashes of a compose file',
    'dstack',
    () => makeDstack({ measured: (log) => log.push(log[4]!) }),
    'measurement_not_allowed: event compose-hash',
  ],
  [
    'the hash of a compose file told as a part of its name',
    'dstack',
    withColon,
    'measurement_not_allowed: event compose-hash',
  ],
  [
    'another compose file',
    'dstack',
    dstack((document) => (document.info.tcb_info.app_compose += ' ')),
    'measurement_not_allowed: event compose-hash',
  ],
  [
    'MRCONFIGID of another file',
    'dstack',
    () => makeDstack({ body: (body) => body.set([9], 190) }),
    'measurement_not_allowed: MRCONFIGID',
  ],
  ['an owner', 'dstack', () => makeDstack({ body: (body) => body.set([9], 232) }), 'policy_refused: registers'],
  [
    'a compose file that no list names',
    'dstack',
    dstack(),
    'measurement_not_allowed: app_compose',
    { lists: (result) => ((result.dstack as any).compose = ['00'.repeat(32)]) },
  ],
  [
    'another system',
    'dstack',
    dstack(),
    'measurement_not_allowed: system',
    { lists: (result) => ((result.dstack!.systems[0] as any).rtmr0 = ['00'.repeat(48)]) },
  ],
  [
    'another application',
    'dstack',
    dstack(),
    'measurement_not_allowed: app-id',
    { lists: (result) => ((result.dstack as any).apps = ['00'.repeat(20)]) },
  ],
  [
    'another provider of keys',
    'dstack',
    dstack(),
    'measurement_not_allowed: key-provider',
    { lists: (result) => ((result.dstack as any).keyProviders = ['00'.repeat(32)]) },
  ],
  [
    'a paravisor that sets every attribute',
    'dstack',
    () => makeDstack({ body: (body) => body.fill(0, 328, 520) }),
    'platform_not_allowed: paravisor',
  ],
  [
    'an older paravisor',
    'dstack',
    () => makeDstack({ body: (body) => body.fill(0, 120, 128) }),
    'platform_not_allowed: paravisor',
  ],

  [
    'notices that nobody has',
    'dstack',
    dstack(),
    'collateral_missing: notices',
    { platform: { notices: { keys: [signer.key], threshold: 1 } } },
  ],
  ['notices that take the machine', 'dstack', dstack(), null, noticing({})],
  [
    'notices that want a later evaluation',
    'dstack',
    dstack(),
    'collateral_expired: evaluation number of tcb_info',
    noticing({ minimumEvaluation: 65_535 }),
  ],

  ['a model', 'near', () => makeNear(false), null],
  ['a model behind the gateway', 'near', () => makeNear(true), null],
  [
    'a file that no list names',
    'near',
    () => makeNear(false),
    'measurement_not_allowed: a file that the manager started',
    { lists: (result) => ((result.near as any).workloads = ['00'.repeat(32)]) },
  ],
  [
    'an action left out',
    'near',
    () => changed(makeNear(false), (document) => document.compose_manager_attestation.actions.pop()),
    'report_data_mismatch',
  ],
  [
    'a member that the hash has no place for',
    'near',
    () => changed(makeNear(false), (document) => (document.compose_manager_attestation.actions[0].more = 1)),
    'evidence_malformed: actions',
  ],
  [
    'a silent manager',
    'near',
    () => changed(makeNear(false), (document) => delete document.compose_manager_attestation),
    'measurement_not_allowed: the manager says nothing',
  ],
  [
    'no model behind the gateway',
    'near',
    () => changed(makeNear(true), (document) => (document.model_attestations = [])),
    'evidence_malformed: model_attestations',
  ],
  [
    'a gateway that no list names',
    'near',
    () => makeNear(true),
    'measurement_not_allowed: the policy names no systems for the gateway',
    { lists: (result) => delete (result.near as any).gateway },
  ],
  [
    'a manager of another machine',
    'near',
    () => makeNear(false, { measured: (log) => log.splice(5, 1) }),
    'measurement_not_allowed: the manager is of another machine',
  ],
]

t.test('documents of services, each wrong in one thing', async (t) => {
  for (const row of rows) {
    const [name, service, , wanted] = row
    t.equal(await refusal(() => judged(row)), wanted, `${service}: ${name}`)
  }
})

t.test('a verdict ends with the notices, and a memory refuses older ones', async (t) => {
  const ends = madeAt + 1000
  t.equal((await judged(['', 'dstack', dstack(), null, noticing({ ends })])).ends, ends)
  let seen: SeenNumbers = {}
  const memory = { load: () => seen, save: (now: SeenNumbers) => void (seen = now) }
  const serial = (serial: number) => {
    const platform: PlatformPolicy = { ...noticing({ serial }).platform, memory }
    return refusal(() => judged(['', 'dstack', dstack(), null, { platform }]))
  }
  t.equal(await serial(7), null)
  t.match(seen, { evaluation: Number, releases: { 'sealgate-notices/1 notices': 7 } })
  t.equal(await serial(6), 'releases_rolled_back')
  t.equal(await serial(8), null)
})

t.test('Chromium says the same of each document', { skip: withoutChromium }, async (t) => {
  const tab = await evidenceTab()
  t.teardown(() => tab.close())
  for (const [name, service, make, wanted, more = {}] of rows.filter(
    ([, , , , more]) => !more?.question && !more?.platform,
  )) {
    const { document, evidence, testRoots } = make()
    const plain = JSON.stringify(document)
    const accepted: ServiceLists = { ...lists(), gpu: undefined }
    more.lists?.(accepted)
    const roots = JSON.parse(
      JSON.stringify(testRoots, (_, value) => (value instanceof Uint8Array ? toHex(value) : value)),
    )
    const asked = { service, document: more.text?.(plain) ?? plain, lists: accepted, testRoots: roots }
    const text = await tab.judged({ ...asked, nonce: toHex(nonce), now: madeAt, evidence })
    const isLive = wanted?.endsWith('tls key') === true
    t.equal(text, isLive ? 'test' : (wanted?.split(':')[0] ?? 'test'), `${service}: ${name}`)
  }
})

t.test('a verdict names what it does not show', async (t) => {
  const { warnings, verified, machines } = await judged([
    '',
    'tinfoil',
    tinfoilGpu(),
    null,
    { question: { nonce: null, tlsKey: null } },
  ])
  t.equal(verified, 'test')
  t.strictSame(warnings.map(({ code }) => code).slice(0, 3), ['nonce_unchecked', 'channel_unchecked', 'gpu_unjudged'])
  t.strictSame(
    machines[0]!.keys.map(({ use }) => use),
    ['tls', 'x25519-hpke'],
  )
})

const hour = 3_600_000
const gpuRows: readonly (readonly [name: string, changes: GpuChanges, wanted: string | null, now?: number])[] = [
  ['a GPU that passed', {}, null],
  ['the last moment', {}, null, madeAt + 3_539_000],
  ['the hour is over', {}, 'evidence_stale: GPU token', madeAt + 3_540_000],
  [
    'a token of the future',
    {
      whole: (document) =>
        Object.assign(document, { iat: document.iat + 600, nbf: document.nbf + 600, exp: document.exp + 600 }),
    },
    'evidence_stale: GPU token',
  ],
  ['a life above an hour', { whole: (document) => document.exp++ }, 'evidence_stale: life of a GPU token'],
  ['another algorithm', { header: { alg: 'none' } }, 'signature_invalid: algorithm of a GPU token'],
  ['another key', { by: 'other' }, 'signature_invalid: GPU token'],
  ['an unknown key', { header: { kid: 'two' } }, 'chain_broken: key of the GPU service'],
  [
    'a certificate that ended',
    { dates: { notBefore: madeAt - hour, notAfter: madeAt - 1 } },
    'certificate_expired: key of the GPU service',
  ],
  [
    'the whole did not pass',
    { whole: (document) => (document['x-nvidia-overall-att-result'] = false) },
    'gpu_refused: overall result',
  ],
  [
    'another nonce',
    { whole: (document) => (document.eat_nonce = '00'.repeat(32)) },
    'report_data_mismatch: nonce of a GPU',
  ],
  [
    'another issuer',
    { whole: (document) => (document.iss = 'https://gpu.example') },
    'gpu_refused: issuer of a GPU token',
  ],
  ['another subject', { whole: (document) => (document.sub = 'GPU') }, 'gpu_refused: subject of a GPU token'],
  ['no GPU', { whole: (document) => (document.submods = {}) }, 'evidence_malformed: submods'],
  [
    'a token of another GPU',
    { tokens: (document) => (document[1]['GPU-0'] = document[0][1]) },
    'signature_invalid: GPU token',
  ],
  [
    'a GPU more than signed',
    { tokens: (document) => (document[1]['GPU-1'] = document[1]['GPU-0']) },
    'gpu_refused: number of GPUs',
  ],
  [
    'a GPU with another nonce',
    { one: (document) => (document.eat_nonce = '00'.repeat(32)) },
    'report_data_mismatch: nonce of a GPU',
  ],
  ['a GPU in debug mode', { one: (document) => (document.dbgstat = 'enabled') }, 'gpu_refused: dbgstat'],
  ['a GPU without secure boot', { one: (document) => (document.secboot = false) }, 'gpu_refused: secboot'],
  ['measurements of a GPU that differ', { one: (document) => (document.measres = 'fail') }, 'gpu_refused: measres'],
  [
    'a check of the service that failed',
    { one: (document) => (document['x-nvidia-gpu-arch-check'] = false) },
    'gpu_refused: a check of the GPU service',
  ],
]

t.test('processors and GPUs each have a veto', async (t) => {
  for (const [name, changes, wanted, now = madeAt] of gpuRows) {
    const { statement: gpu, issuers } = makeGpu(changes)
    const more = { question: { gpu, now }, lists: (lists: ServiceLists) => ((lists as any).gpu = { issuers }) }
    t.equal(await refusal(() => judged(['', 'dstack', dstack(), wanted, more])), wanted, name)
  }
  const { statement: gpu, issuers } = makeGpu()
  const demanded = (lists: ServiceLists) => ((lists as any).gpu = { issuers })
  t.equal(await refusal(() => judged(['', 'dstack', dstack(), null, { lists: demanded }])), 'gpu_refused: no token')
  const strange = await refusal(() => judged(['', 'dstack', dstack(), null, { question: { gpu } }]))
  t.equal(strange, 'root_unknown: issuer of the GPU service', 'a statement that nobody demands has its veto, too')
  const debug: Row = [
    '',
    'dstack',
    () => makeDstack({ body: (body) => body.set([1], 120) }),
    null,
    { question: { gpu }, lists: demanded },
  ]
  t.equal(await refusal(() => judged(debug)), 'debug: attributes', 'GPUs save no processor')
})

t.test('texts of members stay as they stand', async (t) => {
  const members = rawMembers(' { "a" : { "b": [1, "}\\"," ] } , "c":"x,y" ,"d":null}')
  t.strictSame(
    [...members],
    [
      ['a', '{ "b": [1, "}\\"," ] }'],
      ['c', '"x,y"'],
      ['d', 'null'],
    ],
  )
  t.strictSame([...rawMembers('{}')], [])
  t.equal(await refusal(() => rawMembers('[]')), 'evidence_malformed: document')
})

t.test('a policy of services is strict', async (t) => {
  const policy = (services: object) => JSON.stringify({ platforms: ['tdx'], services })
  t.strictSame(parseServicePolicy(policy(lists())).platform, { platforms: ['tdx'] })
  for (const [change, words] of [
    [{ other: {} }, /services\.other is unknown/],
    [{ dstack: { ...lists().dstack, compose: [] } }, /services\.dstack\.compose is no list/],
    [{ near: { model: lists().near?.model } }, /services\.near\.workloads is no list/],
    [{ gpu: { required: false } }, /services\.gpu\.required is unknown/],
  ] as const)
    t.throws(() => parseServicePolicy(policy(change)), { name: 'PolicyError', message: words })
  t.throws(() => parseServicePolicy('{"testRoots":{}}'), { name: 'PolicyError' })
  t.throws(() => parseServicePolicy('[]'), { name: 'PolicyError' })
  for (const member of ['measurements', 'releases'])
    t.throws(() => parseServicePolicy(`{"${member}":[],"services":{}}`), { message: /own enclaves/ })
})

const folder = '../shared/evidence/services'
const skip = existsSync(folder) ? false : 'the recordings are not here'

/** Lists that accept a recording: its own values, so that everything else is judged. */
const learned = (service: Service, text: string) => {
  const parsed = JSON.parse(text)
  const body = (quote: Buffer) => (at: number) => quote.subarray(48 + at, 96 + at).toString('hex')
  const system = (document: any) => {
    const part = body(Buffer.from(document.intel_quote, 'hex'))
    const system = { name: 'recorded', mrtd: part(136), rtmr0: [part(328)], rtmr1: part(376), rtmr2: part(424) }
    return { systems: [system], compose: [document.info.compose_hash] }
  }
  if (service === 'tinfoil') {
    const report = Buffer.from(parsed.cpu.report, 'base64')
    if (parsed.cpu.platform === 'sev-snp')
      return { tinfoil: { images: [{ name: 'recorded', 'sev-snp': report.subarray(0x90, 0xc0).toString('hex') }] } }
    const part = body(report)
    const image = { name: 'recorded', tdx: { rtmr1: part(376), rtmr2: part(424) } }
    return { tinfoil: { images: [image], hardware: [{ mrtd: part(136), rtmr0: part(328) }] } }
  }
  if (service === 'dstack') return parsed.intel_quote === undefined ? {} : { dstack: system(parsed) }
  const model = parsed.model_attestations?.[0] ?? parsed
  const gateway = parsed.gateway_attestation && { gateway: system(parsed.gateway_attestation) }
  const files = model.compose_manager_attestation.actions.map((action: any) => action.file_sha256)
  return { near: { model: system(model), ...gateway, workloads: files.filter((file: unknown) => file !== undefined) } }
}

const recordings: readonly (readonly [service: Service, name: string, wanted: string | null])[] = [
  ['tinfoil', 'tinfoil_v3_direct_gemma4-31b_20260622_235412', null],
  // The recorder asked AMD for no revocation list.
  ['tinfoil', 'tinfoil_v3_cloud_llama3-3-70b_20260629_020740', 'collateral_missing: crl'],
  ['near', 'neardirect_qwen_qwen3.5-122b-a10b_20260424_021037', null],
  ['dstack', 'neardirect_qwen_qwen3.5-122b-a10b_20260424_021037', null],
  // The machine of NEAR's gateway lacked updates of its platform.
  ['near', 'nearcloud_qwen_qwen3.5-122b-a10b_20260424_020614', 'tcb_too_low: OutOfDate'],
  // Phala's cloud passed on a document of a third service, with a nonce of its own.
  ['dstack', 'phalacloud_phala_deepseek-v3.2_20260610_014917', 'no_verifier: attestation_type'],
]

t.test('recordings of services that exist', { skip }, async (t) => {
  for (const [service, name, wanted] of recordings) {
    const { document, source, at, ...question } = await readRecording(`${folder}/${name}`)
    const policy = parseServicePolicy(JSON.stringify({ services: { ...learned(service, document), gpu: {} } }))
    const now = at!
    const judge = (change: Partial<ServiceQuestion> = {}) =>
      judgeService(service, document, policy, { ...question, now, ...change }, completing(source, policy.platform, now))
    t.equal(await refusal(() => judge()), wanted, `${service}: ${name}`)
    if (wanted !== null) continue
    t.equal(await refusal(() => judge({ nonce: other })), 'report_data_mismatch: nonce', 'another nonce')
    t.equal(await refusal(() => judge({ gpu: null })), 'gpu_refused: no token', 'no word of the GPU service')
    t.equal(await refusal(() => judge({ now: now + hour })), 'evidence_stale: GPU token', 'an hour later')
  }
})

t.test('the command judges a recording, and a document alone', { skip }, async (t) => {
  const at = t.testdir()
  const [service, name] = recordings[0]!
  const recording = join(folder, name)
  const { document, nonce } = await readRecording(recording)
  const policy = join(at, 'policy.json')
  await writeFile(policy, JSON.stringify({ services: learned(service, document) }))
  await writeFile(join(at, 'document.json'), document)
  const verify = ['verify', '--service', service, '--evidence']
  const whole = await command([...verify, recording, '--policy', policy], {})
  t.match(whole, { code: 0, stdout: /✓ machine: TDX .*, runs recorded\n✓ machine: the tls key .*\n.*x25519-hpke key / })
  const memory = join(at, 'memory.json')
  t.match(await command([...verify, recording, '--policy', policy, '--memory', memory], {}), { code: 0 })
  const { evaluation } = JSON.parse(await readFile(memory, 'utf8'))
  await writeFile(memory, JSON.stringify({ evaluation: evaluation + 1 }))
  t.match(await command([...verify, recording, '--policy', policy, '--memory', memory], {}), {
    ...{ code: 1, stdout: /✗ memory\n.*evaluation number fell/ },
  })
  t.match(await command([...verify, recording], {}), {
    code: 1,
    stdout: /measurement_not_allowed \(the policy names no images of tinfoil\)/,
  })
  const alone = ['--policy', policy, '--collateral', at, '--at', '2026-06-22T23:54:12Z', '--nonce']
  const documentAlone = [...verify, join(at, 'document.json'), ...alone]
  t.match(await command([...documentAlone, toHex(nonce!)], {}), { code: 1, stdout: /✓ nonce\n.*collateral_missing/s })
  t.match(await command([...documentAlone, toHex(other)], {}), { code: 1, stdout: /✗ nonce\n.*report_data_mismatch/s })
  t.match(await command([...documentAlone, 'zz'], {}), { code: 2, stderr: /--nonce has 32 bytes in hex/ })
  t.match(await command(['verify', '--service', 'other', '--evidence', recording], {}), { code: 2 })
})

/** Quotes and reports of guests of Azure in a folder, in the forms in which recorders keep them. */
const azureGuests = async (folder: string) => {
  const found: { readonly name: string; readonly evidence: object }[] = []
  const add = (name: string, bytes: Buffer) => {
    const isQuote = bytes.readUInt16LE(0) === 4 && bytes.readUInt32LE(4) === 0x81
    const raw = bytes.toString('hex')
    if (isQuote) found.push({ name, evidence: { type: 'tdx', v: 1, quote: raw } })
    if (bytes.subarray(0, 4).toString() === 'HCLA')
      found.push({ name, evidence: { type: 'sev-snp', v: 1, report: raw } })
  }
  for (const name of await readdir(folder)) {
    const bytes = await readFile(join(folder, name))
    if (!name.endsWith('.json')) {
      add(name, bytes)
      continue
    }
    const { evidence, ...own } = JSON.parse(bytes.toString())
    for (const [member, value] of Object.entries({ ...own, ...evidence }))
      if (member === 'td_quote' || member === 'hcl_report')
        add(`${name}: ${member}`, Buffer.from(value as string, 'base64url'))
  }
  return found
}

t.test('every recorded guest of Azure is refused as one behind a paravisor', { skip }, async (t) => {
  const folders = (await readdir(folder)).filter((name) => name.startsWith('az_'))
  const names: string[] = []
  for (const guest of folders)
    for (const { name, evidence } of await azureGuests(join(folder, guest))) {
      names.push(name)
      const policy = { measurements: ['00'.repeat(48)] }
      const question = { keysetHash: other, challenge: other, releaseDigest: other, now: madeAt }
      for (const collateral of [undefined, {}])
        t.equal(
          await refusal(() => appraise({ ...evidence, ...(collateral && { collateral }) }, policy, question)),
          'platform_not_allowed: paravisor',
          name,
        )
    }
  t.ok(names.length >= 6, names.join(', '))
})
