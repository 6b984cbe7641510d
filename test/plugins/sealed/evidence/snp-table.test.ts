import t from 'tap'
import { newChecks } from '../../../../plugins/sealed/evidence/checks.ts'
import { clockSkewMs } from '../../../../plugins/sealed/evidence/chain.ts'
import { type SnpRules, checkSnp } from '../../../../plugins/sealed/evidence/snp.ts'
import { platformInfo } from '../../../../plugins/sealed/evidence/snp-bits.ts'
import { snpProfiles } from '../../../../plugins/sealed/evidence/profiles.ts'
import { type Product, type Tcb, componentsOf } from '../../../../plugins/sealed/evidence/snp-tcb.ts'
import { toHex } from '../../../../plugins/sealed/wire/bytes.ts'
import { constraints, extension, keyUsage } from '../../../fakes/platform/certificates.ts'
import { der, ia5, integer, octetString, oid, sequence } from '../../../fakes/platform/der.ts'
import { type SnpOptions, amd, chipOf, level, makeSnp, snpKeys, tcbBytes } from '../../../fakes/platform/snp.ts'
import { refusal } from './samples.ts'

const now = Date.parse('2026-11-01T12:00:00Z')
const day = 86_400_000
const reportData = new Uint8Array(64).fill(7)

type Changes = Omit<SnpOptions, 'now' | 'reportData'>
type Row = readonly [name: string, changes: Changes, wanted: string | null, rules?: Partial<SnpRules>]

const floorOf = (product: Product): Tcb => level(product)

const tried = async (changes: Changes, rules: Partial<SnpRules> = {}, evidence?: (made: any) => object) => {
  const product = changes.product ?? 'Genoa'
  const made = makeSnp({ now, reportData, ...changes })
  const all: SnpRules = {
    ...snpProfiles.standard,
    roots: { [product]: made.root },
    floors: { [product]: floorOf(product) },
    clouds: [],
    chips: null,
    mitigations: null,
    provisional: null,
    ...rules,
  }
  const shown = evidence === undefined ? made.evidence : evidence(made.evidence)
  return refusal(() => checkSnp(shown as Record<string, unknown>, all, now, newChecks()))
}

const set =
  (at: number, ...bytes: readonly number[]) =>
  (report: Uint8Array) =>
    report.set(bytes, at)

const bit =
  (at: number, number: number) =>
  (report: Uint8Array): void =>
    void (report[at + (number >> 3)]! ^= 1 << (number & 7))

const tcbAt = (at: number, product: Product, change: Partial<Tcb>) => (report: Uint8Array) =>
  report.set(tcbBytes(product, { ...level(product), ...change }), at)

const turin: Changes = { product: 'Turin' }
const vlek: Changes = { signer: 'VLEK' }
const clouds = { clouds: ['Example Cloud'] }
const vulnerable: Partial<SnpRules> = { products: ['Milan', 'Genoa', 'Turin'] }
const without = (name: string) => (parts: Record<string, Uint8Array>) => void delete parts[name]
const instead = (name: string, value: Uint8Array) => (parts: Record<string, Uint8Array>) => void (parts[name] = value)
const dates = (notBefore: number, notAfter: number) => ({ notBefore, notAfter })

const accepted: readonly Row[] = [
  ['Genoa 3', {}, null],
  ['Genoa 4', { version: 4 }, null],
  ['Genoa 5', { version: 5 }, null],
  ['Turin', turin, null],
  ['Turin 5', { ...turin, version: 5 }, null],
  ['Milan, if a policy took it', { product: 'Milan' }, null, vulnerable],
  ['VLEK of a named cloud', vlek, null, clouds],
  ['VLEK of Turin', { ...turin, ...vlek }, null, clouds],
  ['no migration agent as zeros', { report: (bytes) => bytes.fill(0, 0x160, 0x180) }, null],
  ['product without a stepping', { extensions: instead('product', amd('2', ia5('Genoa'))) }, null],
  ['unused components of zero', { extensions: instead('spl4', amd('3.4', integer(0))) }, null],
  ['chip on the list', {}, null, { chips: [toHex(chipOf('Genoa'))] }],
  ['mitigations', { version: 5 }, null, { mitigations: { launch: 0x0fn, current: 0x0fn } }],
]

const shape: readonly Row[] = [
  ['version 2', { report: set(0, 2) }, 'platform_not_allowed: report version'],
  ['version 6', { report: set(0, 6) }, 'evidence_malformed: report version'],
  ['version 1', { report: set(0, 1) }, 'evidence_malformed: report version'],
  ['policy bit 17', { report: bit(8, 17) }, 'evidence_malformed: guest policy'],
  ['policy bit 26', { report: bit(8, 26) }, 'evidence_malformed: guest policy'],
  ['policy bit 63', { report: bit(8, 63) }, 'evidence_malformed: guest policy'],
  ['signature algorithm', { report: set(0x34, 2) }, 'evidence_malformed: signature algorithm'],
  ['platform bit 6', { report: bit(0x40, 6) }, 'evidence_malformed: platform info'],
  ['platform bit 8', { report: bit(0x40, 8) }, 'evidence_malformed: platform info'],
  ['platform bit 63', { report: bit(0x40, 63) }, 'evidence_malformed: platform info'],
  ['flags bit 5', { report: bit(0x48, 5) }, 'evidence_malformed: flags'],
  ['flags bit 31', { report: bit(0x48, 31) }, 'evidence_malformed: flags'],
  ['chip key masked', { report: bit(0x48, 1) }, 'chip_masked'],
  ['signing key 7', { report: set(0x48, 7 << 2) }, 'platform_not_allowed: signing key'],
  ['signing key 2', { report: set(0x48, 2 << 2) }, 'platform_not_allowed: signing key'],
  ['family', { report: set(0x188, 0x18) }, 'platform_not_allowed: processor'],
  ['model between Milan and Genoa', { report: set(0x189, 0x20) }, 'platform_not_allowed: processor'],
  ['model behind Genoa', { report: set(0x189, 0xb0) }, 'platform_not_allowed: processor'],
  ['model behind Turin', { ...turin, report: set(0x189, 0x12) }, 'platform_not_allowed: processor'],
  ['reserved patch level byte', { report: set(0x3a, 1) }, 'evidence_malformed: patch level'],
  ['reserved byte of the reported patch level', { report: set(0x182, 1) }, 'evidence_malformed: patch level'],
  ['reserved patch level byte of Turin', { ...turin, report: set(0x3c, 1) }, 'evidence_malformed: patch level'],
  ...[0x4c, 0x4f, 0x18b, 0x19f, 0x1eb, 0x1ef, 0x1f8, 0x29f].map((at): Row => [
    `byte ${at}`,
    { report: set(at, 1) },
    'reserved',
  ]),
  ['version 5, byte 520', { version: 5, report: set(0x208, 1) }, 'reserved'],
  ...[0x2d0, 0x2e7, 0x318, 0x32f, 0x330, 0x49f].map((at): Row => [
    `byte ${at} behind`,
    { afterwards: set(at, 1) },
    'reserved',
  ]),
]

const certificates: readonly Row[] = [
  ['leaf ended', { vek: dates(now - 9 * day, now - clockSkewMs - 1000) }, 'certificate_expired: no longer valid'],
  ['leaf within the skew', { vek: dates(now - 9 * day, now - clockSkewMs + 1000) }, null],
  ['leaf of the future', { vek: dates(now + clockSkewMs + 1000, now + day) }, 'certificate_expired: not valid yet'],
  ['leaf nearly of the future', { vek: dates(now + clockSkewMs - 1000, now + day) }, null],
  ['intermediate ended', { ica: dates(now - 9 * day, now - day) }, 'certificate_expired: no longer valid'],
  ['root ended', { ark: dates(now - 9 * day, now - day) }, 'certificate_expired: no longer valid'],
  ['leaf by another key', { vek: { by: snpKeys.other } }, 'chain_broken: signature'],
  ['intermediate by another key', { ica: { by: snpKeys.other } }, 'chain_broken: signature'],
  ['leaf under another name', { vek: { issuer: 'SEV-Turin' } }, 'chain_broken: names'],
  ['intermediate under another name', { ica: { issuer: 'ARK-Turin' } }, 'chain_broken: names'],
  ['leaf with another name', { vek: { subject: 'SEV-VLEK' } }, 'chain_broken: name of the leaf'],
  [
    'VLEK under the ASK',
    { ...vlek, vek: { issuer: 'SEV-Genoa' }, ica: { subject: 'SEV-Genoa' } },
    'chain_broken: name of the issuer',
    clouds,
  ],
  [
    'VCEK under the ASVK',
    { vek: { issuer: 'SEV-VLEK-Genoa' }, ica: { subject: 'SEV-VLEK-Genoa' } },
    'chain_broken: name of the issuer',
  ],
  ['leaf as an authority', { extensions: instead('ca', constraints()) }, 'chain_broken: the leaf is an authority'],
  ['intermediate is no authority', { ica: { extensions: [keyUsage(4)] } }, 'chain_broken: an issuer is no authority'],
  [
    'intermediate may not sign',
    { ica: { extensions: [constraints(0), keyUsage(0x80)] } },
    'chain_broken: an issuer may not sign',
  ],
  ...[Uint8Array.of(8, 0x04), Uint8Array.of(0), Uint8Array.of(0, 0x04, 0, 0)].map((usage): Row => [
    `keyUsage of ${toHex(usage)}`,
    { ica: { extensions: [constraints(0), extension('2.5.29.15', der(0x03, usage), true)] } },
    'evidence_malformed: keyUsage',
  ]),
  ['intermediate without keyUsage', { ica: { extensions: [constraints(0)] } }, null],
  ['root may not sign', { ark: { extensions: [constraints(), keyUsage(2)] } }, 'chain_broken: an issuer may not sign'],
  ['root with a path length of 0', { ark: { extensions: [constraints(0), keyUsage(6)] } }, 'chain_broken: path length'],
  ['root with a path length of 1', { ark: { extensions: [constraints(1), keyUsage(6)] } }, null],
  [
    'unknown critical extension',
    { extensions: instead('x', extension('1.2.3.4', integer(1), true)) },
    'evidence_malformed: critical extension',
  ],
  [
    'a flag that is written though it is false',
    { extensions: instead('x', sequence(oid('1.2.3.4'), der(0x01, Uint8Array.of(0)), octetString(integer(1)))) },
    'evidence_malformed: extension',
  ],
  ['a serial of 21 bytes', { vek: { serial: new Uint8Array(21).fill(1) } }, 'evidence_malformed: serial number'],
  ['a serial of 20 bytes', { vek: { serial: new Uint8Array(20).fill(1) } }, null],
  [
    'a path length without an authority',
    { extensions: instead('x', extension('2.5.29.19', sequence(integer(0)))) },
    'evidence_malformed: basicConstraints',
  ],
  ['a control character in a name', { vek: { subject: 'SEV-VCEK\n' } }, 'evidence_malformed: name'],
  [
    'basicConstraints with a written false',
    { extensions: instead('x', extension('2.5.29.19', sequence(der(0x01, Uint8Array.of(0))))) },
    'evidence_malformed: basicConstraints',
  ],
  ['unknown extension', { extensions: instead('x', extension('1.2.3.4', integer(1))) }, null],
  ['extension twice', { extensions: instead('x', amd('2', ia5('Genoa'))) }, 'evidence_malformed: extension'],
  ['version 1', { vek: { version: 0 } }, 'evidence_malformed: certificate version'],
  ['inner algorithm', { vek: { inner: snpKeys.vek.algorithm } }, 'evidence_malformed: signature algorithm'],
  [
    'root of the same name',
    { ark: { key: snpKeys.other, by: snpKeys.other }, ica: { by: snpKeys.other }, crl: { by: snpKeys.other } },
    'root_unknown',
    { roots: { Genoa: makeSnp({ now, reportData }).root } },
  ],
  ['leaf with an RSA key', { vek: { key: snpKeys.other } }, 'chain_broken: key of the leaf'],
  ['root of another product', {}, 'root_unknown', { roots: { Turin: '00'.repeat(32) } }],
  ['intermediate revoked', { crl: { revoked: [0x2000] } }, 'certificate_revoked'],
  ['leaf number in the list of the root', { crl: { revoked: [1] } }, null],
  ['list by another key', { crl: { by: snpKeys.other } }, 'crl_invalid: signature'],
  ['list by the intermediate', { crl: { issuer: 'SEV-Genoa', by: snpKeys.ask } }, 'crl_invalid: issuer'],
  ['list of another issuer', { crl: { issuer: 'ARK-Turin' } }, 'crl_invalid: issuer'],
  ['root may not sign lists', { ark: { extensions: [constraints(), keyUsage(4)] } }, 'crl_invalid: issuer'],
  ['list without an end', { crl: { endless: true } }, 'evidence_malformed: der time'],
  [
    'delta list',
    { crl: { extensions: [extension('2.5.29.27', integer(1), true)] } },
    'crl_invalid: critical extension',
  ],
  [
    'critical extension of an entry',
    { crl: { entry: extension('2.5.29.29', integer(1), true) } },
    'crl_invalid: critical extension',
  ],
  ['list within its grace', { crl: { ends: now - 7 * day } }, null],
  ['list beyond its grace', { crl: { ends: now - 7 * day - 1000 } }, 'collateral_expired: revocation list'],
  ['list of the future', { crl: { issued: now + clockSkewMs + 1000 } }, 'crl_invalid: of the future'],
  ['list nearly of the future', { crl: { issued: now + clockSkewMs - 1000 } }, null],
]

const endorsement: readonly Row[] = [
  ['report by another key', { reportSigner: snpKeys.otherVek }, 'signature_invalid: report'],
  ['report changed', { afterwards: bit(0x90, 0) }, 'signature_invalid: report'],
  ['another chip', { report: set(0x1a0, 99) }, 'chip_mismatch'],
  ['another chip in its ninth byte', { report: set(0x1a8, 99) }, 'chip_mismatch'],
  ['Turin: another chip', { ...turin, report: set(0x1a7, 99) }, 'chip_mismatch'],
  ['Turin: more chip', { ...turin, report: set(0x1a8, 99) }, 'chip_mismatch'],
  [
    'Turin: 64 bytes in the certificate',
    { ...turin, extensions: instead('chip', amd('4', chipOf('Turin'))) },
    'chip_mismatch',
  ],
  ['no chip in the certificate', { extensions: without('chip') }, 'chip_mismatch'],
  [
    '8 bytes in the certificate',
    { extensions: instead('chip', amd('4', chipOf('Genoa').subarray(0, 8))) },
    'chip_mismatch',
  ],
  ['chip of zeros', { report: (bytes) => bytes.fill(0, 0x1a0, 0x1e0) }, 'chip_masked'],
  [
    'VCEK with a cloud',
    { extensions: instead('cloud', amd('5', ia5('Example Cloud'))) },
    'chip_mismatch: a VCEK names a cloud',
    clouds,
  ],
  [
    'VLEK with a chip',
    { ...vlek, extensions: instead('chip', amd('4', chipOf('Genoa'))) },
    'chip_mismatch: a VLEK names a chip',
    clouds,
  ],
  [
    'VLEK without a cloud',
    { ...vlek, extensions: without('cloud') },
    'chip_not_allowed: a VLEK names no cloud',
    clouds,
  ],
  ['VLEK without a named cloud', vlek, 'platform_not_allowed: VLEK'],
  ['VLEK of another cloud', vlek, 'chip_not_allowed: cloud', { clouds: ['Other Cloud'] }],
  ['chip off the list', {}, 'chip_not_allowed: chip', { chips: ['00'.repeat(64)] }],
  [
    'product of the leaf',
    { extensions: instead('product', amd('2', ia5('Turin-A0'))) },
    'chain_broken: product of the leaf',
  ],
  [
    'longer product of the leaf',
    { extensions: instead('product', amd('2', ia5('Genoa2'))) },
    'chain_broken: product of the leaf',
  ],
  ['no product', { extensions: without('product') }, 'chain_broken: product of the leaf'],
  ['unused component', { extensions: instead('spl5', amd('3.5', integer(1))) }, 'tcb_mismatch: an unused component'],
  ['fmc of a Genoa', { extensions: instead('fmc', amd('3.9', integer(1))) }, 'tcb_mismatch: fmc'],
  [
    'component above 255',
    { extensions: instead('snp', amd('3.3', integer(256))) },
    'evidence_malformed: patch level of the certificate',
  ],
  ...(['Genoa', 'Turin'] as const).flatMap((product) =>
    componentsOf(product).flatMap((component): readonly Row[] => [
      [
        `${product}: no ${component} in the certificate`,
        { product, extensions: without(component) },
        `tcb_mismatch: ${component}`,
      ],
      [
        `${product}: ${component} of the report above the certificate`,
        { product, report: tcbAt(0x180, product, { [component]: level(product)[component] + 1 }) },
        'tcb_mismatch',
      ],
      [
        `${product}: ${component} of the report below the certificate`,
        { product, report: tcbAt(0x180, product, { [component]: level(product)[component] - 1 }) },
        'tcb_mismatch',
      ],
    ]),
  ),
]

const places = { reported: 0x180, committed: 0x1e0, launch: 0x1f0, current: 0x38 } as const
const levels: readonly Row[] = [
  ...(['Genoa', 'Turin'] as const).flatMap((product) =>
    componentsOf(product).flatMap((component): readonly Row[] => {
      const floor = { [product]: { ...level(product), [component]: level(product)[component] + 1 } }
      return [
        [`${product}: floor of ${component}`, { product }, `tcb_too_low: reported ${component}`, { floors: floor }],
      ]
    }),
  ),
  ...(['committed', 'launch', 'current'] as const).flatMap((place) =>
    componentsOf('Turin').map((component): Row => {
      const report = tcbAt(places[place], 'Turin', { [component]: level('Turin')[component] - 1 })
      return [`${place} ${component} below the floor`, { ...turin, report }, `tcb_too_low: ${place} ${component}`]
    }),
  ),
  [
    'high in one component does not make up for another',
    { report: tcbAt(0x1f0, 'Genoa', { bootloader: 0, microcode: 255 }) },
    'tcb_too_low: launch bootloader',
  ],
  ['no floor', turin, 'tcb_too_low: no floor is known for Turin; a policy may state one', { floors: {} }],
  [
    'reported above current',
    { report: (bytes) => [0x38, 0x1e0].forEach((at) => tcbAt(at, 'Genoa', { snp: 24 })(bytes)) },
    'tcb_mismatch: reported is above current',
    { floors: { Genoa: { ...level('Genoa'), snp: 24 } } },
  ],
  ['provisional', { report: tcbAt(0x38, 'Genoa', { snp: 26 }) }, 'tcb_provisional'],
  [
    'provisional, excepted',
    { report: tcbAt(0x38, 'Genoa', { snp: 26 }) },
    null,
    { provisional: { allow: 'sev-snp.provisional', until: now, because: '' } },
  ],
]

const guestBits = (values: readonly bigint[]) => (report: Uint8Array) => {
  for (const value of values) bit(8, Math.log2(Number(value)))(report)
}
const strictGuest = snpProfiles.strict.guestNeeds
const machine: readonly Row[] = [
  ['debug', { report: bit(8, 19) }, 'debug: guest policy'],
  ['migration agent allowed', { report: bit(8, 18) }, 'policy_refused: migrationAgent'],
  ['migration agent there', { report: set(0x160, 1) }, 'policy_refused: migrationAgent'],
  ['cxl', { report: bit(8, 21) }, 'policy_refused: cxl'],
  ['single socket', { report: bit(8, 20) }, null],
  ['smt not allowed', { report: bit(8, 16) }, null],
  ['vmpl 1', { report: set(0x30, 1) }, 'policy_refused: vmpl'],
  ['no alias check', { report: bit(0x40, 5) }, 'policy_refused: platform aliasCheck'],
  ['tio', { report: bit(0x40, 7) }, 'policy_refused: platform tio'],
  ['strict guest', { report: guestBits(Object.values(strictGuest)) }, null, { guestNeeds: strictGuest }],
  ...Object.entries(strictGuest).map(([name, value]): Row => {
    const report = guestBits(Object.values(strictGuest).filter((other) => other !== value))
    return [`strict guest: no ${name}`, { report }, `policy_refused: guest ${name}`, { guestNeeds: strictGuest }]
  }),
  ['strict platform: smt', {}, 'policy_refused: platform smt', { platformRefuses: { smt: platformInfo.smt } }],
  [
    'strict platform: ecc',
    { report: bit(0x40, 2) },
    'policy_refused: platform ecc',
    { platformNeeds: { ecc: platformInfo.ecc } },
  ],
  [
    'strict platform: ciphertext hiding',
    {},
    'policy_refused: platform ciphertextHiding',
    { platformNeeds: { ciphertextHiding: platformInfo.ciphertextHiding } },
  ],
  [
    'strict platform: rapl',
    {},
    'policy_refused: platform raplOff',
    { platformNeeds: { raplOff: platformInfo.raplOff } },
  ],
  ['mitigations before version 5', {}, 'policy_refused: mitigations', { mitigations: { launch: 1n, current: 1n } }],
  [
    'launch mitigations',
    { version: 5 },
    'policy_refused: mitigations',
    { mitigations: { launch: 0x10n, current: 1n } },
  ],
  [
    'current mitigations',
    { version: 5 },
    'policy_refused: mitigations',
    { mitigations: { launch: 1n, current: 0x10n } },
  ],
  [
    'the id block of a paravisor',
    { report: (report) => [0x10, 0x20].forEach((at, before) => void (report[at] = before + 1)) },
    'platform_not_allowed: paravisor',
  ],
  ['Milan', { product: 'Milan' }, 'platform_not_allowed: Milan'],
]

for (const [name, rows] of Object.entries({ accepted, shape, certificates, endorsement, levels, machine }))
  t.test(name, async (t) => {
    for (const [name, changes, wanted, rules] of rows) {
      const text = await tried(changes, rules)
      if (wanted === 'reserved') t.match(text, /^evidence_malformed: report byte/, name)
      else t.equal(text, wanted, name)
    }
  })

t.test('the shape of the evidence', async (t) => {
  const row = async (name: string, change: (evidence: any) => object, wanted: string) =>
    t.equal(await tried({}, {}, change), wanted, name)
  await row('no report', ({ report: _, ...rest }) => rest, 'evidence_malformed: report')
  await row(
    'short report',
    (evidence) => ({ ...evidence, report: evidence.report.slice(2) }),
    'evidence_malformed: report',
  )
  await row(
    'long report',
    (evidence) => ({ ...evidence, report: `${evidence.report}00` }),
    'evidence_malformed: report',
  )
  await row(
    'a wrapped report',
    (evidence) => ({ ...evidence, report: `48434c41${evidence.report}` }),
    'platform_not_allowed: paravisor',
  )
  await row(
    'upper case',
    (evidence) => ({ ...evidence, report: evidence.report.toUpperCase() }),
    'evidence_malformed: report',
  )
  await row('a number', (evidence) => ({ ...evidence, report: 1 }), 'evidence_malformed: report')
  await row('no certificates', ({ certificates: _, ...rest }) => rest, 'evidence_malformed: certificates')
  await row('a list', (evidence) => ({ ...evidence, certificates: [] }), 'evidence_malformed: certificates')
  await row(
    'no root',
    ({ certificates: { ark: _, ...own }, ...rest }) => ({ ...rest, certificates: own }),
    'evidence_malformed: ark',
  )
  await row(
    'inherited',
    ({ certificates, ...rest }) => ({ ...rest, certificates: Object.create(certificates) }),
    'evidence_malformed: vek',
  )
  await row('no collateral', ({ collateral: _, ...rest }) => rest, 'collateral_missing: crl')
  await row('no list', (evidence) => ({ ...evidence, collateral: {} }), 'collateral_missing: crl')
  await row(
    'a list that cannot be read',
    (evidence) => ({ ...evidence, collateral: { crl: '3000' } }),
    'evidence_malformed: der tag',
  )
  await row('an empty list', (evidence) => ({ ...evidence, collateral: { crl: '' } }), 'evidence_malformed: der tag')
  await row(
    'bytes behind a certificate',
    (evidence) => ({ ...evidence, certificates: { ...evidence.certificates, vek: `${evidence.certificates.vek}00` } }),
    'evidence_malformed: der trailing bytes',
  )
})

t.test('checks are told in order, to the first that failed', async (t) => {
  const made = makeSnp({ now, reportData, report: bit(8, 19) })
  const checks = newChecks()
  const rules = { ...snpProfiles.standard, roots: { Genoa: made.root }, floors: { Genoa: level('Genoa') } }
  const whole = { ...rules, clouds: [], chips: null, mitigations: null, provisional: null }
  await t.rejects(checkSnp(made.evidence, whole, now, checks))
  t.strictSame(
    checks.done.map(({ id, ok }) => `${id} ${ok}`),
    [
      'parse true',
      'platform true',
      'certificates true',
      'revocation true',
      'endorsement true',
      'signature true',
      'patch level true',
      'machine false',
    ],
  )
})
