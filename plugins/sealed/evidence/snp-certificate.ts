import { same } from '../wire/bytes.ts'
import type { Certificate } from './certificate.ts'
import { onlyItem, smallInteger, tags } from './der.ts'
import { isZero } from './fields.ts'
import { demand, refuse } from './reasons.ts'
import type { SnpReport } from './snp-report.ts'
import { type Component, type Product, type Tcb, componentsOf } from './snp-tcb.ts'

// Under 1.3.6.1.4.1.3704.1, in hex.
const arc = '2b060104019c7801'
/** Identifiers of AMD's extensions: the product, the chip, and the cloud of a VLEK. */
const oids = { product: `${arc}02`, chip: `${arc}04`, cloud: `${arc}05` }
const levels: Readonly<Record<Component, string>> = {
  bootloader: `${arc}0301`,
  tee: `${arc}0302`,
  snp: `${arc}0303`,
  microcode: `${arc}0308`,
  fmc: `${arc}0309`,
}
const unused = ['04', '05', '06', '07'].map((last) => `${arc}03${last}`)

/** Null when the certificate has no such component. Throws for a level above 255. */
const levelOf = (certificate: Certificate, oid: string): number | null => {
  const extension = certificate.extensions.get(oid)
  if (extension === undefined) return null
  const value = smallInteger(onlyItem(extension.value, tags.integer))
  return value <= 255 ? value : refuse('evidence_malformed', 'patch level of the certificate')
}

/** Throws `tcb_mismatch` for a missing component, and for a level above 0 of a component that the product lacks. */
const tcbOf = (certificate: Certificate, product: Product): Tcb => {
  for (const oid of unused) demand((levelOf(certificate, oid) ?? 0) === 0, 'tcb_mismatch', 'an unused component')
  const tcb = { fmc: 0, bootloader: 0, tee: 0, snp: 0, microcode: 0 }
  const own = componentsOf(product)
  for (const [component, oid] of Object.entries(levels) as [Component, string][]) {
    const level = levelOf(certificate, oid)
    if (own.includes(component)) tcb[component] = level ?? refuse('tcb_mismatch', component)
    else demand(level === null || level === 0, 'tcb_mismatch', component)
  }
  return tcb
}

/** Null when the certificate lacks the extension. */
const textOf = (certificate: Certificate, oid: string): string | null => {
  const extension = certificate.extensions.get(oid)
  return extension === undefined ? null : String.fromCharCode(...onlyItem(extension.value, tags.ia5String).content)
}

/** Throws unless leaf and intermediate have the names of this product and this kind of key. */
export const checkNames = ([leaf, issuer]: readonly Certificate[], { product, signer }: SnpReport): void => {
  demand(leaf!.commonName === `SEV-${signer}`, 'chain_broken', 'name of the leaf')
  const wanted = signer === 'VCEK' ? `SEV-${product}` : `SEV-VLEK-${product}`
  demand(issuer!.commonName === wanted, 'chain_broken', 'name of the issuer')
}

/** Throws unless the leaf names the chip of the report. A VLEK alone names a cloud, and no chip. */
export const checkEndorsement = (leaf: Certificate, report: SnpReport) => {
  const { product, signer, chip } = report
  demand(leaf.key.kind === 'p384' && leaf.algorithm === 'rsa-pss-sha384', 'chain_broken', 'key of the leaf')
  demand(textOf(leaf, oids.product)?.split('-')[0] === product, 'chain_broken', 'product of the leaf')
  demand(!isZero(chip), 'chip_masked')
  const size = product === 'Turin' ? 8 : 64
  demand(isZero(chip.subarray(size)), 'chip_mismatch')
  const [hardware, cloud] = [leaf.extensions.get(oids.chip)?.value, textOf(leaf, oids.cloud)]
  if (signer === 'VLEK') {
    demand(hardware === undefined, 'chip_mismatch', 'a VLEK names a chip')
    demand(cloud !== null, 'chip_not_allowed', 'a VLEK names no cloud')
  } else {
    demand(cloud === null, 'chip_mismatch', 'a VCEK names a cloud')
    demand(hardware !== undefined && same(hardware, chip.subarray(0, size)), 'chip_mismatch')
  }
  return { tcb: tcbOf(leaf, product), cloud }
}
