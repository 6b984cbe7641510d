import t from 'tap'
import { clockSkewMs } from '../../../../plugins/sealed/evidence/chain.ts'
import { newChecks } from '../../../../plugins/sealed/evidence/checks.ts'
import type { TdxRules } from '../../../../plugins/sealed/evidence/rules.ts'
import { checkTdx } from '../../../../plugins/sealed/evidence/tdx.ts'
import { extension, keyUsage } from '../../../fakes/platform/certificates.ts'
import { integer } from '../../../fakes/platform/der.ts'
import {
  type Identity,
  type Info,
  type TdxOptions,
  levelOf,
  makeTdx,
  sgx,
  tdx,
  tdxKeys,
} from '../../../fakes/platform/tdx.ts'
import { refusal } from './samples.ts'

const now = Date.parse('2026-11-01T12:00:00Z')
const day = 86_400_000
const reportData = new Uint8Array(64).fill(7)

type Changes = Omit<TdxOptions, 'now' | 'reportData'>
type Row = readonly [name: string, changes: Changes, wanted: string | null, rules?: Partial<TdxRules>]

const tried = (changes: Changes, rules: Partial<TdxRules> = {}, change = (evidence: any): object => evidence) => {
  const made = makeTdx({ now, reportData, ...changes })
  const all: TdxRules = {
    ...{ root: made.root, minimumEvaluation: 17, ppids: null, withoutAdvisories: false, statuses: {}, grace: 7 * day },
    ...rules,
  }
  return refusal(() => checkTdx(change(made.evidence) as Record<string, unknown>, all, now, newChecks()))
}

const set =
  (at: number, ...bytes: readonly number[]) =>
  (target: Uint8Array) =>
    target.set(bytes, at)
const info = (change: Partial<Info> | Record<string, unknown>) => (info: Info) => void Object.assign(info, change)
const identity = (change: Partial<Identity> | Record<string, unknown>) => (identity: Identity) =>
  void Object.assign(identity, change)
const iso = (time: number): string => new Date(time).toISOString().replace(/\.\d+/, '')
const except = (status: string, advisories: readonly string[]) => ({
  statuses: { [status]: { advisories, used: { allow: `tdx.status:${status}`, until: now, because: '' } } },
})
const old = (status: string, change: Parameters<typeof levelOf>[1] = {}) => levelOf(status, change)
const versioned = (change: (module: Info['tdxModuleIdentities'][0]) => void) => (info: Info) =>
  change(info.tdxModuleIdentities[0]!)

const shape: readonly Row[] = [
  ['version 4', {}, null],
  ['version 5', { version: 5 }, null],
  ['version 5, long', { version: 5, long: true }, null],
  ['version 3', { head: set(0, 3) }, 'evidence_malformed: quote version'],
  ['key type', { head: set(2, 3) }, 'evidence_malformed: type of the attestation key'],
  ['SGX', { head: set(4, 0) }, 'evidence_malformed: type of the quote'],
  ['vendor', { head: set(12, 0) }, 'evidence_malformed: vendor of the quoting enclave'],
  ['body type', { version: 5, afterwards: set(48, 3) }, 'evidence_malformed: quote body'],
  ['body size', { version: 5, afterwards: set(50, 0x49) }, 'evidence_malformed: quote body'],
  ['zeros behind', { behind: new Uint8Array(100) }, null],
  [
    'a byte behind the certificates',
    { insideCertified: Uint8Array.of(0) },
    'evidence_malformed: certificates of the quote',
  ],
  ['a byte behind the certification', { insideData: Uint8Array.of(0) }, 'evidence_malformed: certification data'],
  ['a byte behind', { behind: Uint8Array.of(0, 1) }, 'evidence_malformed: bytes behind the quote'],
  [
    'short signature data',
    { afterwards: (bytes) => bytes.set([bytes[632]! - 1], 632) },
    'evidence_malformed: bytes behind the quote',
  ],
]

const dates = (notBefore: number, notAfter: number) => ({ notBefore, notAfter })
const ended = dates(now - 9 * day, now - day)
const certificates: readonly Row[] = [
  ['PCK ended', { pck: ended }, 'certificate_expired: no longer valid'],
  ['authority ended', { authority: ended }, 'certificate_expired: no longer valid'],
  ['signer of levels ended', { tcb: ended }, 'certificate_expired: no longer valid'],
  ['PCK by another key', { pck: { by: tdxKeys.other } }, 'chain_broken: signature'],
  ['authority by another key', { authority: { by: tdxKeys.other } }, 'chain_broken: signature'],
  ['PCK with another name', { pck: { subject: 'Intel SGX TCB Signing' } }, 'chain_broken: name of the leaf'],
  [
    'processor authority',
    {
      authority: { subject: 'Intel SGX PCK Processor CA' },
      pck: { issuer: 'Intel SGX PCK Processor CA' },
      pckList: { issuer: 'Intel SGX PCK Processor CA' },
    },
    null,
  ],
  [
    'authority with another name',
    { authority: { subject: 'Other' }, pck: { issuer: 'Other' }, pckList: { issuer: 'Other' } },
    'chain_broken: name of the issuer',
  ],
  ['another root of the same name', {}, 'root_unknown', { root: makeTdx({ now, reportData }).root }],
  ['authority revoked', { rootList: { revoked: [2] } }, 'certificate_revoked'],
  ['PCK revoked', { pckList: { revoked: [3] } }, 'certificate_revoked'],
  ['signer of levels revoked', { rootList: { revoked: [4] } }, 'certificate_revoked'],
  ['numbers in the other list', { rootList: { revoked: [3] }, pckList: { revoked: [2, 4] } }, null],
  ['root list by another key', { rootList: { by: tdxKeys.other } }, 'crl_invalid: signature'],
  ['PCK list by another key', { pckList: { by: tdxKeys.other } }, 'crl_invalid: signature'],
  ['PCK list by the root', { pckList: { issuer: 'Intel SGX Root CA', by: tdxKeys.root } }, 'crl_invalid: issuer'],
  ['root list beyond its grace', { rootList: { ends: now - 7 * day - 1000 } }, 'collateral_expired: revocation list'],
  ['root list within its grace', { rootList: { ends: now - 7 * day } }, null],
  ['PCK list beyond its grace', { pckList: { ends: now - 7 * day - 1000 } }, 'collateral_expired: revocation list'],
  ['PCK list of the future', { pckList: { issued: now + clockSkewMs + 1000 } }, 'crl_invalid: of the future'],
  [
    'delta list',
    { pckList: { extensions: [extension('2.5.29.27', integer(1), true)] } },
    'crl_invalid: critical extension',
  ],
  [
    'authority may not sign lists',
    { authority: { extensions: [keyUsage(0x04)] } },
    'chain_broken: an issuer is no authority',
  ],
]

const data: readonly Row[] = [
  ['tcb_info by another key', { infoSigner: tdxKeys.other }, 'collateral_invalid: signature of tcb_info'],
  ['qe_identity by another key', { identitySigner: tdxKeys.other }, 'collateral_invalid: signature of qe_identity'],
  ['tcb_info by the PCK', { infoSigner: tdxKeys.pck, infoChain: 'pck' }, 'collateral_invalid: signer of tcb_info'],
  [
    'signer with another name',
    { tcb: { subject: 'Intel SGX PCK Certificate' } },
    'collateral_invalid: signer of tcb_info',
  ],
  ['signer under another root', { tcb: { by: tdxKeys.other } }, 'chain_broken: signature'],
  ['SGX', { info: info({ id: 'SGX' }) }, 'collateral_invalid: tcb_info'],
  ['version 2', { info: info({ version: 2 }) }, 'collateral_invalid: tcb_info'],
  ['tcbType 1', { info: info({ tcbType: 1 }) }, 'collateral_invalid: tcb_info'],
  ['QE', { identity: identity({ id: 'QE' }) }, 'collateral_invalid: qe_identity'],
  ['qe_identity version 3', { identity: identity({ version: 3 }) }, null],
  ['qe_identity version 4', { identity: identity({ version: 4 }) }, 'collateral_invalid: qe_identity'],
  ['tcb_info ends now', { info: info({ nextUpdate: iso(now) }) }, null],
  ['tcb_info ended', { info: info({ nextUpdate: iso(now - 1000) }) }, 'collateral_expired: tcb_info'],
  ['qe_identity ended', { identity: identity({ nextUpdate: iso(now - 1000) }) }, 'collateral_expired: qe_identity'],
  [
    'tcb_info of the future',
    { info: info({ issueDate: iso(now + clockSkewMs + 1000) }) },
    'collateral_invalid: tcb_info is of the future',
  ],
  ['tcb_info nearly of the future', { info: info({ issueDate: iso(now + clockSkewMs - 1000) }) }, null],
  [
    'evaluation of tcb_info',
    { info: info({ tcbEvaluationDataNumber: 16 }) },
    'collateral_expired: evaluation number of tcb_info',
  ],
  [
    'evaluation of qe_identity',
    { identity: identity({ tcbEvaluationDataNumber: 16 }) },
    'collateral_expired: evaluation number of qe_identity',
  ],
  ['evaluation at the floor', { identity: identity({ tcbEvaluationDataNumber: 17 }) }, null],
  ['unknown status', { info: info({ tcbLevels: [old('Fine')] }) }, 'collateral_invalid: tcb_info'],
  [
    '15 components',
    { info: info({ tcbLevels: [old('UpToDate', { sgx: sgx(0, 0).slice(1) })] }) },
    'collateral_invalid: tcb_info',
  ],
  [
    '17 components',
    { info: info({ tcbLevels: [old('UpToDate', { tdx: [...tdx(0, 0), 0] })] }) },
    'collateral_invalid: tcb_info',
  ],
  ['fmspc', { said: (extension) => extension.fmspc.set([1]) }, 'collateral_invalid: fmspc'],
  ['pceid', { said: (extension) => extension.pceid.set([1]) }, 'collateral_invalid: pceid'],
  ['ppid on the list', {}, null, { ppids: ['aa'.repeat(16)] }],
  ['ppid off the list', {}, 'chip_not_allowed: ppid', { ppids: ['bb'.repeat(16)] }],
  [
    'a longer fmspc',
    { said: (extension) => void (extension.fmspc = new Uint8Array(7)) },
    'evidence_malformed: PCK extension',
  ],
  ["a PCK without Intel's extension", { pck: { extensions: [] } }, 'evidence_malformed: PCK extension'],
  ['a PCK that says its fmspc twice', { twice: true }, 'evidence_malformed: PCK extension'],
  [
    'a component above 255',
    { said: (extension) => void (extension.components[0] = 256) },
    'evidence_malformed: PCK extension',
  ],
  [
    '15 components of the PCK',
    { said: (extension) => void extension.components.pop() },
    'evidence_malformed: PCK extension',
  ],
]

const signatures: readonly Row[] = [
  ['quoting enclave by another key', { quotingSigner: tdxKeys.other }, 'signature_invalid: quoting enclave'],
  ['quote by another key', { quoteSigner: tdxKeys.other }, 'signature_invalid: quote'],
  ['quote changed', { afterwards: (bytes) => void (bytes[48 + 136]! ^= 1) }, 'signature_invalid: quote'],
  ['attestation key not bound', { bound: new Uint8Array(32) }, 'signature_invalid: attestation key'],
  ['bytes behind the binding', { quoting: set(352, 1) }, 'signature_invalid: attestation key'],
  [
    'authentication data changed',
    { afterwards: (bytes) => void (bytes[48 + 584 + 4 + 64 + 64 + 6 + 384 + 64 + 2]! ^= 1) },
    'signature_invalid: attestation key',
  ],
]

const quoting: readonly Row[] = [
  ['miscselect', { quoting: set(16, 1) }, 'qe_refused: miscselect'],
  ['debug of the quoting enclave', { quoting: set(48, 0x13) }, 'qe_refused: attributes'],
  ['attributes outside the mask', { quoting: set(48, 0x15) }, null],
  ['signer', { quoting: set(128, 1) }, 'qe_refused: signer'],
  ['product', { quoting: set(256, 1) }, 'qe_refused: product'],
  ['old', { quoting: set(258, 3) }, 'tcb_too_low: OutOfDate'],
  ['older than any level', { quoting: set(258, 1) }, 'tcb_too_low: quoting enclave'],
  ['old, excepted', { quoting: set(258, 3) }, null, except('OutOfDate', ['SA-3'])],
  [
    'levels in another order',
    { quoting: set(258, 3), identity: (document) => void document.tcbLevels.reverse() },
    'tcb_too_low: OutOfDate',
  ],
  ['new, levels in another order', { identity: (document) => void document.tcbLevels.reverse() }, null],
]

const levels: readonly Row[] = [
  ...[0, 1, 2, 3, 4, 5, 7, 15].map((at): Row => [
    `component ${at} of SGX`,
    { info: info({ tcbLevels: [old('UpToDate', { sgx: sgx(at, 1) }), old('OutOfDate')] }) },
    'tcb_too_low: OutOfDate',
  ]),
  ...[2, 3, 15].map((at): Row => [
    `component ${at} of TDX`,
    { info: info({ tcbLevels: [old('UpToDate', { tdx: tdx(at, 1) }), old('OutOfDate')] }) },
    'tcb_too_low: OutOfDate',
  ]),
  [
    'pcesvn',
    { info: info({ tcbLevels: [old('UpToDate', { pcesvn: 14 }), old('OutOfDate')] }) },
    'tcb_too_low: OutOfDate',
  ],
  [
    'the first components with a versioned module',
    { info: info({ tcbLevels: [old('UpToDate', { tdx: [99, 99, ...tdx(0, 0).slice(2)] })] }) },
    null,
  ],
  [
    'the first component without one',
    { body: set(0, 5, 0), info: info({ tcbLevels: [old('UpToDate', { tdx: tdx(0, 1) }), old('OutOfDate')] }) },
    'tcb_too_low: OutOfDate',
  ],
  ['without a versioned module', { body: set(0, 5, 0) }, null],
  ['levels in another order', { info: (document) => void document.tcbLevels.reverse() }, null],
  ['no level', { info: info({ tcbLevels: [old('UpToDate', { pcesvn: 14 })] }) }, 'tcb_too_low: platform'],
  [
    'high in one does not make up for another',
    { said: (extension) => void ((extension.components[0]! = 200), (extension.components[7] = 4)) },
    'tcb_too_low: platform',
  ],
  ...[
    'SWHardeningNeeded',
    'ConfigurationNeeded',
    'ConfigurationAndSWHardeningNeeded',
    'OutOfDate',
    'OutOfDateConfigurationNeeded',
    'Revoked',
  ].flatMap((status): readonly Row[] => [
    [status, { info: info({ tcbLevels: [old(status)] }) }, `tcb_too_low: ${status}`],
    [
      `${status} excepted`,
      { info: info({ tcbLevels: [old(status)] }) },
      status === 'Revoked' ? 'tcb_too_low: Revoked' : null,
      except(status, []),
    ],
  ]),
  [
    'an advisory that is not excepted',
    { info: info({ tcbLevels: [old('OutOfDate', { advisories: ['SA-1', 'SA-2'] })] }) },
    'tcb_too_low: OutOfDate with an advisory that is not excepted',
    except('OutOfDate', ['SA-1']),
  ],
  [
    'another status excepted',
    { info: info({ tcbLevels: [old('OutOfDate')] }) },
    'tcb_too_low: OutOfDate',
    except('SWHardeningNeeded', []),
  ],
  ['up to date with an advisory', { info: info({ tcbLevels: [old('UpToDate', { advisories: ['SA-1'] })] }) }, null],
  [
    'the same, strict',
    { info: info({ tcbLevels: [old('UpToDate', { advisories: ['SA-1'] })] }) },
    'tcb_too_low: advisories',
    { withoutAdvisories: true },
  ],
  ['old module', { body: set(0, 5) }, 'tcb_too_low: OutOfDate'],
  [
    'old module on a platform to configure, of which one is excepted',
    { body: set(0, 5), info: info({ tcbLevels: [old('ConfigurationNeeded')] }) },
    'tcb_too_low: OutOfDateConfigurationNeeded',
    except('OutOfDate', ['SA-1', 'SA-2']),
  ],
  [
    'old module on a platform to configure, where both are excepted',
    { body: set(0, 5), info: info({ tcbLevels: [old('ConfigurationNeeded')] }) },
    null,
    except('OutOfDateConfigurationNeeded', ['SA-1', 'SA-2']),
  ],
  ['module older than any level', { body: set(0, 3) }, 'tcb_too_low: module'],
  ['unknown module', { body: set(1, 2) }, 'tcb_too_low: unknown module'],
  ['module levels in another order', { info: versioned((document) => void document.tcbLevels.reverse()) }, null],
  [
    'revoked module',
    { info: versioned((document) => void (document.tcbLevels[0]!.tcbStatus = 'Revoked')) },
    'tcb_too_low: Revoked',
    except('OutOfDate', []),
  ],
  ['signer of the module', { body: set(64, 1) }, 'policy_refused: signer of the module'],
  ['attributes of the module', { body: set(112, 1) }, 'debug: module'],
  [
    'attributes outside the mask',
    { body: set(112, 1), info: versioned((document) => void (document.attributesMask = `FE${'FF'.repeat(7)}`)) },
    null,
  ],
]

const machine: readonly Row[] = [
  ['debug', { body: set(120, 1) }, 'debug: attributes'],
  ['bit 7', { body: set(120, 0x80) }, 'debug: attributes'],
  ['paravisor', { body: set(123, 0) }, 'platform_not_allowed: paravisor'],
  ['PKS', { body: set(123, 0x50) }, null],
  ['MIGRATABLE', { body: set(123, 0x30) }, 'policy_refused: attributes'],
  ['PERFMON', { body: set(127, 0x80) }, 'policy_refused: attributes'],
  ['bit 8', { body: set(121, 1) }, 'policy_refused: attributes'],
  ['service domain', { version: 5, long: true, body: set(600, 1) }, 'policy_refused: serviceTd'],
  ['xfam without SSE', { body: set(128, 0xe5) }, 'policy_refused: xfam'],
  ['xfam beyond the mask', { body: set(130, 0x0e) }, 'policy_refused: xfam'],
]

for (const [name, rows] of Object.entries({ shape, certificates, data, signatures, quoting, levels, machine }))
  t.test(name, async (t) => {
    for (const [name, changes, wanted, rules] of rows) t.equal(await tried(changes, rules), wanted, name)
  })

t.test('the shape of the evidence', async (t) => {
  for (const name of [
    'tcb_info',
    'tcb_info_signature',
    'tcb_info_issuer_chain',
    'qe_identity',
    'qe_identity_signature',
    'qe_identity_issuer_chain',
    'root_ca_crl',
    'pck_crl',
  ]) {
    t.equal(await tried({ collateral: (record) => void delete record[name] }), `collateral_missing: ${name}`)
    t.match(
      await tried({ collateral: (record) => void (record[name] = 'x') }),
      /^(evidence_malformed|collateral_invalid)/,
      name,
    )
    t.match(
      await tried({ collateral: (record) => void (record[name] = '') }),
      /^(evidence_malformed|collateral_invalid)/,
      name,
    )
  }
  for (const value of [1, ['x'], 'x'.repeat(65_537)])
    t.equal(
      await tried({}, {}, (document) => ({ ...document, collateral: { ...document.collateral, tcb_info: value } })),
      'evidence_malformed: tcb_info',
    )
  t.equal(await tried({}, {}, ({ collateral: _, ...rest }) => rest), 'collateral_missing: collateral')
  for (const beside of [undefined, {}])
    t.equal(
      await tried({ body: set(123, 0) }, {}, (document) => ({ ...document, collateral: beside })),
      'platform_not_allowed: paravisor',
      'a paravisor is told without collateral, too',
    )
  t.equal(await tried({}, {}, ({ quote: _, ...rest }) => rest), 'evidence_malformed: quote')
  const chain = (change: (pem: string) => string) =>
    tried({ collateral: (record) => void (record['tcb_info_issuer_chain'] = change(record['tcb_info_issuer_chain']!)) })
  const spaced = await tried({ collateral: (record) => void (record['tcb_info'] += ' ') })
  t.equal(spaced, 'collateral_invalid: signature of tcb_info', 'a signed text with a space behind')
  t.equal(await chain((pem) => `${pem}x`), 'evidence_malformed: pem')
  t.equal(await chain((pem) => ` ${pem}`), 'evidence_malformed: pem')
  t.equal(await chain((pem) => pem + pem), 'evidence_malformed: pem')
  t.equal(await chain((pem) => pem.slice(0, pem.indexOf('-----END') + 26)), 'evidence_malformed: pem')
})
