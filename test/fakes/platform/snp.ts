import { createHash } from 'node:crypto'
import type { Product, Tcb } from '../../../plugins/sealed/evidence/snp-tcb.ts'
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
  rsaSigner,
} from './certificates.ts'
import { ia5, integer } from './der.ts'

const day = 86_400_000
const cpuids: Readonly<Record<Product, readonly [number, number, number]>> = {
  Milan: [0x19, 0x01, 1],
  Genoa: [0x19, 0x11, 1],
  Turin: [0x1a, 0x02, 1],
}

export const level = (product: Product): Tcb => ({
  fmc: product === 'Turin' ? 3 : 0,
  bootloader: 10,
  tee: 2,
  snp: 25,
  microcode: 90,
})

export const tcbBytes = (product: Product, { fmc, bootloader, tee, snp, microcode }: Tcb): Uint8Array =>
  product === 'Turin'
    ? Uint8Array.of(fmc, bootloader, tee, snp, 0, 0, 0, microcode)
    : Uint8Array.of(bootloader, tee, 0, 0, 0, 0, snp, microcode)

const arc = '1.3.6.1.4.1.3704.1'
const numbers: Readonly<Record<keyof Tcb, number>> = { bootloader: 1, tee: 2, snp: 3, microcode: 8, fmc: 9 }

/** The extensions of a VEK by their names, so that a case can leave out or change one. */
export const vekExtensions = (product: Product, signer: 'VCEK' | 'VLEK', chip: Uint8Array) => {
  const tcb = level(product)
  const parts: Record<string, Uint8Array> = { product: extension(`${arc}.2`, ia5(`${product}-B1`)) }
  for (const [name, at] of Object.entries(numbers) as [keyof Tcb, number][])
    if (name !== 'fmc' || product === 'Turin') parts[name] = extension(`${arc}.3.${at}`, integer(tcb[name]))
  if (signer === 'VCEK') parts['chip'] = extension(`${arc}.4`, product === 'Turin' ? chip.subarray(0, 8) : chip)
  else parts['cloud'] = extension(`${arc}.5`, ia5('Example Cloud'))
  return parts
}

export const amd = (id: string, value: Uint8Array): Uint8Array => extension(`${arc}.${id}`, value)

export interface SnpOptions {
  readonly now: number
  readonly reportData: Uint8Array
  readonly product?: Product
  readonly version?: number
  readonly signer?: 'VCEK' | 'VLEK'
  /** Changes the report before it is signed. */
  readonly report?: (report: Uint8Array) => void
  /** Changes the report behind its signature. */
  readonly afterwards?: (report: Uint8Array) => void
  /** Changes the VEK's extensions by their names. */
  readonly extensions?: (parts: Record<string, Uint8Array>) => void
  readonly vek?: Partial<CertificateParts>
  readonly ica?: Partial<CertificateParts>
  readonly ark?: Partial<CertificateParts>
  readonly crl?: Partial<ListParts>
  readonly reportSigner?: Signer
}

const keys = { ark: rsaSigner('ark'), ask: rsaSigner('ask'), vek: curveSigner('p384') }
export const snpKeys = { ...keys, other: rsaSigner('other'), otherVek: curveSigner('p384') }

export const chipOf = (product: Product): Uint8Array =>
  Uint8Array.from({ length: 64 }, (_, at) => (product === 'Turin' && at >= 8 ? 0 : at + 1))

const makeReport = (product: Product, version: number, signer: 'VCEK' | 'VLEK', reportData: Uint8Array): Uint8Array => {
  const report = new Uint8Array(1184)
  report[0] = version
  report[0x0a] = 0x03
  report[0x34] = 1
  report[0x40] = 0x25
  report[0x48] = signer === 'VLEK' ? 0x04 : 0
  report.set(reportData, 0x50)
  report.fill(0xab, 0x90, 0xc0)
  report.fill(0xff, 0x160, 0x180)
  report.set(cpuids[product], 0x188)
  report.set(chipOf(product), 0x1a0)
  for (const at of [0x38, 0x180, 0x1e0, 0x1f0]) report.set(tcbBytes(product, level(product)), at)
  if (version === 5) report.set([0x0f, 0, 0, 0, 0, 0, 0, 0, 0x0f], 0x1f8)
  return report
}

/** r and s little-endian, each in 72 bytes. */
export const signReport = (report: Uint8Array, by: Signer): void => {
  const flat = by.flat(report.subarray(0, 0x2a0))
  report.set(flat.slice(0, 48).reverse(), 0x2a0)
  report.set(flat.slice(48).reverse(), 0x2e8)
}

const rootsMade = new Map<string, Uint8Array>()

/** The root of a product; the same one for the same time, unless a case changes it. */
const rootOf = (product: Product, now: number, change: Partial<CertificateParts> | undefined): Uint8Array => {
  const kept = change === undefined ? rootsMade.get(`${product} ${now}`) : undefined
  const made =
    kept ??
    makeCertificate({
      serial: 0x1000,
      issuer: `ARK-${product}`,
      subject: `ARK-${product}`,
      notBefore: now - 30 * day,
      notAfter: now + 300 * day,
      key: keys.ark,
      by: keys.ark,
      extensions: [constraints(), keyUsage(0x06)],
      ...change,
    })
  if (change === undefined) rootsMade.set(`${product} ${now}`, made)
  return made
}

/** Evidence of SEV-SNP that holds in everything but what the options change, and the hash of its root. */
export const makeSnp = (options: SnpOptions) => {
  const { now, reportData, product = 'Genoa', version = 3, signer = 'VCEK' } = options
  const report = makeReport(product, version, signer, reportData)
  options.report?.(report)
  signReport(report, options.reportSigner ?? keys.vek)
  options.afterwards?.(report)
  const dates = { notBefore: now - 30 * day, notAfter: now + 300 * day }
  const icaName = signer === 'VCEK' ? `SEV-${product}` : `SEV-VLEK-${product}`
  const parts = vekExtensions(product, signer, chipOf(product))
  options.extensions?.(parts)
  const vek = makeCertificate({
    ...{ issuer: icaName, subject: `SEV-${signer}`, ...dates, key: keys.vek, by: keys.ask },
    extensions: Object.values(parts),
    ...options.vek,
  })
  const ica = makeCertificate({
    ...{ serial: 0x2000, issuer: `ARK-${product}`, subject: icaName, ...dates, key: keys.ask, by: keys.ark },
    extensions: [constraints(0), keyUsage(0x04)],
    ...options.ica,
  })
  const ark = rootOf(product, now, options.ark)
  const crl = makeList({
    ...{ issuer: `ARK-${product}`, issued: now - 10 * day, ends: now + 100 * day, by: keys.ark, revoked: [0x666] },
    ...options.crl,
  })
  const evidence = {
    type: 'sev-snp',
    v: 1,
    report: toHex(report),
    certificates: { vek: toHex(vek), ica: toHex(ica), ark: toHex(ark) },
    collateral: { crl: toHex(crl) },
  }
  return { evidence, root: createHash('sha256').update(ark).digest('hex'), roots: { [product]: sha256(ark) } }
}

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(concat(bytes)).digest())
