import { createHash } from 'node:crypto'
import { type Certificate, readCertificate } from '../../../plugins/sealed/evidence/certificate.ts'
import { checkChain } from '../../../plugins/sealed/evidence/chain.ts'
import { checkSignature } from '../../../plugins/sealed/evidence/keys.ts'
import { readPem } from '../../../plugins/sealed/evidence/pem.ts'
import { demand } from '../../../plugins/sealed/evidence/reasons.ts'
import { checkList, readList } from '../../../plugins/sealed/evidence/revocation-list.ts'
import type { SnpRules } from '../../../plugins/sealed/evidence/snp.ts'
import { checkEndorsement, checkNames } from '../../../plugins/sealed/evidence/snp-certificate.ts'
import type { SnpReport } from '../../../plugins/sealed/evidence/snp-report.ts'
import { componentsOf, equalTcb } from '../../../plugins/sealed/evidence/snp-tcb.ts'
import { type Members, type WantedPiece, nearestMoment } from './piece.ts'

/** Where AMD's pieces come from, and the roots that they must lead to. */
export interface AmdSource {
  /** The address of AMD's key service, without a path. */
  readonly service: string
  readonly rules: Pick<SnpRules, 'roots' | 'grace'>
}

const bytes = (hex: string | undefined): Uint8Array => new Uint8Array(Buffer.from(hex ?? '', 'hex'))
/** Throws when the member is missing or is no certificate in DER. */
const certificate = (members: Members, name: string): Certificate => readCertificate(bytes(members[name]))
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** A chain lives from the latest start to the earliest end of its certificates, in ms. */
const lifeOf = (chain: readonly Certificate[]) => {
  const ends = Math.min(...chain.map(({ notAfter }) => notAfter))
  return { issued: Math.max(...chain.map(({ notBefore }) => notBefore)), ends, taken: ends }
}

/** AMD's intermediate and root certificates of a product, for the kind of key that signed the report. */
export const authorities = (
  { product, signer }: SnpReport,
  given: Members | null,
  { service, rules }: AmdSource,
): WantedPiece => {
  const kind = signer.toLowerCase()
  return {
    name: 'authorities',
    about: `${kind}/${product}`,
    given,
    url: `${service}/${kind}/v1/${product}/cert_chain`,
    file: `${kind}-${product}-chain.pem`,
    read({ body }) {
      const [ica, ark] = readPem(body.toString('latin1').replaceAll('\r', ''), 2)
      return { ica: Buffer.from(ica!.whole).toString('hex'), ark: Buffer.from(ark!.whole).toString('hex') }
    },
    async check(members) {
      const [issuer, root] = [certificate(members, 'ica'), certificate(members, 'ark')]
      demand(sha256(root.whole) === rules.roots[product], 'root_unknown')
      demand(issuer.commonName === (signer === 'VCEK' ? `SEV-${product}` : `SEV-VLEK-${product}`), 'chain_broken')
      demand(Buffer.from(issuer.issuer).equals(root.subject), 'chain_broken', 'names')
      await checkSignature(root.key, issuer.algorithm, issuer.signature, issuer.signed, ['chain_broken', 'signature'])
      return lifeOf([issuer, root])
    },
  }
}

/** The patch level of a report, in the spelling of AMD's service. */
const levelOf = ({ product, tcbs: { reported } }: SnpReport): string => {
  const spelled = { fmc: 'fmcSPL', bootloader: 'blSPL', tee: 'teeSPL', snp: 'snpSPL', microcode: 'ucodeSPL' } as const
  return componentsOf(product)
    .map((part) => `${spelled[part]}=${String(reported[part]).padStart(2, '0')}`)
    .join('&')
}

/** The certificate of the key that signed the report. Only the host has the certificate of a cloud's key. */
export const endorsement = (
  report: SnpReport,
  given: Members | null,
  above: Members,
  { service, rules }: AmdSource,
): WantedPiece => {
  const { product, signer } = report
  const chip = Buffer.from(product === 'Turin' ? report.chip.subarray(0, 8) : report.chip).toString('hex')
  const level = levelOf(report)
  const file = `vcek-${product}-${chip}-${level.replace(/[^\d&]/g, '').replaceAll('&', '.')}.der`
  return {
    name: 'vek',
    // A cloud has several keys, and a report names none of them.
    about: signer === 'VCEK' ? `${product}/${chip}/${level}` : `VLEK/${sha256(bytes(given?.['vek']))}`,
    given,
    url: signer === 'VCEK' ? `${service}/vcek/v1/${product}/${chip}?${level}` : null,
    file: signer === 'VCEK' ? file : `vlek-${product}.der`,
    read: ({ body }) => ({ vek: body.toString('hex') }),
    async check(members, now) {
      const chain = [certificate(members, 'vek'), certificate(above, 'ica'), certificate(above, 'ark')]
      checkNames(chain, report)
      const { issued, ends } = lifeOf(chain)
      await checkChain(chain, [rules.roots[product] ?? ''], nearestMoment(now, issued, ends))
      demand(equalTcb(checkEndorsement(chain[0]!, report).tcb, report.tcbs.reported), 'tcb_mismatch')
      return lifeOf(chain.slice(0, 1))
    },
  }
}

/** The revocation list of a product's root. */
export const revocations = ({ product }: SnpReport, above: Members, { service, rules }: AmdSource): WantedPiece => ({
  name: 'crl',
  about: product,
  given: null,
  url: `${service}/vcek/v1/${product}/crl`,
  file: `${product}-crl.der`,
  read: ({ body }) => ({ crl: body.toString('hex') }),
  async check(members, now) {
    const list = readList(bytes(members['crl']))
    await checkList(list, certificate(above, 'ark'), nearestMoment(now, list.issued, list.ends), 0)
    return { issued: list.issued, ends: list.ends, taken: list.ends + rules.grace }
  },
})
