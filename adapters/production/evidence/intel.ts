import type { Certificate } from '../../../plugins/sealed/evidence/certificate.ts'
import { readPem } from '../../../plugins/sealed/evidence/pem.ts'
import { demand } from '../../../plugins/sealed/evidence/reasons.ts'
import { checkList, readList } from '../../../plugins/sealed/evidence/revocation-list.ts'
import type { TdxRules } from '../../../plugins/sealed/evidence/rules.ts'
import { checkSignedJson } from '../../../plugins/sealed/evidence/tdx.ts'
import { readPlatformLevels, readQuotingIdentity } from '../../../plugins/sealed/evidence/tdx-collateral.ts'
import { readPck } from '../../../plugins/sealed/evidence/tdx-pck.ts'
import { type PieceLife, type Members, type WantedPiece, nearestMoment } from './piece.ts'

/** Where Intel's pieces come from, and the root that they must lead to. */
export interface IntelSource {
  /** The address of Intel's service of platform data, without a path. */
  readonly service: string
  /** The address of the root's revocation list. */
  readonly rootList: string
  readonly rules: Pick<TdxRules, 'root' | 'grace'>
}

const bytes = (hex: string | undefined): Uint8Array => new Uint8Array(Buffer.from(hex ?? '', 'hex'))

/** A list counts beyond its end for the grace that the rules allow. */
const listOf = (
  name: 'root_ca_crl' | 'pck_crl',
  issuer: Certificate,
  { rules }: IntelSource,
): Pick<WantedPiece, 'name' | 'given' | 'read' | 'check'> => ({
  name,
  given: null,
  read: ({ body }) => ({ [name]: body.toString('hex') }),
  async check(members, now) {
    const list = readList(bytes(members[name]))
    await checkList(list, issuer, nearestMoment(now, list.issued, list.ends), 0)
    return { issued: list.issued, ends: list.ends, taken: list.ends + rules.grace }
  },
})

/** The revocation lists of the root, and of the authority that certified the platform. */
export const rootRevocations = (root: Certificate, from: IntelSource): WantedPiece => ({
  ...listOf('root_ca_crl', root, from),
  about: 'intel',
  url: from.rootList,
  file: 'intel-root-crl.der',
})

/** Intel has two such authorities, for processors and for platforms of several; the name tells which. */
export const platformRevocations = (authority: Certificate, from: IntelSource): WantedPiece => {
  const ca = authority.commonName === 'Intel SGX PCK Processor CA' ? 'processor' : 'platform'
  return {
    ...listOf('pck_crl', authority, from),
    about: ca,
    url: `${from.service}/sgx/certification/v4/pckcrl?ca=${ca}&encoding=der`,
    file: `intel-${ca}-crl.der`,
  }
}

/** Where each signed text stands in Intel's answers, and the header with its signer's chain. */
const forms = {
  tcb_info: { holder: 'tcbInfo', header: 'tcb-info-issuer-chain', parse: readPlatformLevels },
  qe_identity: { holder: 'enclaveIdentity', header: 'sgx-enclave-identity-issuer-chain', parse: readQuotingIdentity },
} as const

/** The exact bytes that Intel signed, from the object around them. */
const split = (text: string, holder: string): { readonly signed: string; readonly signature: string } => {
  const found = /^\{"(\w+)":(\{[\s\S]*\}),"signature":"([0-9a-f]{128})"\}\s*$/i.exec(text)
  demand(found?.[1] === holder, 'collateral_invalid', holder)
  return { signed: found[2]!, signature: found[3]!.toLowerCase() }
}

/** The text stays byte for byte as signed: parsing and writing it again would break the signature. */
const signedText = (
  name: 'tcb_info' | 'qe_identity',
  root: Members,
  { rules }: IntelSource,
): Pick<WantedPiece, 'name' | 'given' | 'header' | 'read'> & {
  life(members: Members, now: number): Promise<PieceLife>
} => {
  const { holder, header, parse } = forms[name]
  return {
    name,
    given: null,
    header,
    read({ body, chain }) {
      const { signed, signature } = split(body.toString('utf8'), holder)
      return { [name]: signed, [`${name}_signature`]: signature, [`${name}_issuer_chain`]: chain }
    },
    async life(members, now) {
      const text = members[name] ?? ''
      const chain = readPem(members[`${name}_issuer_chain`] ?? '', 2)
      const { issueDate: issued, nextUpdate: ends } = parse(text)
      const signature = bytes(members[`${name}_signature`])
      const list = readList(bytes(root['root_ca_crl']))
      await checkSignedJson({ name, text, signature, chain }, rules, list, nearestMoment(now, issued, ends))
      return { issued, ends, taken: ends }
    },
  }
}

/** Intel's levels for the platform of this certificate. */
export const levels = (leaf: Certificate, root: Members, from: IntelSource): WantedPiece => {
  const { fmspc } = readPck(leaf)
  const { life, ...rest } = signedText('tcb_info', root, from)
  return {
    ...rest,
    about: fmspc,
    url: `${from.service}/tdx/certification/v4/tcb?fmspc=${fmspc}&update=early`,
    file: `intel-tcb-${fmspc}.json`,
    async check(members, now) {
      const judged = await life(members, now)
      const about = Buffer.from(readPlatformLevels(members['tcb_info']!).fmspc).toString('hex')
      demand(about === fmspc, 'collateral_invalid', 'fmspc')
      return judged
    },
  }
}

/** Intel's description of its quoting enclave. */
export const quotingIdentity = (root: Members, from: IntelSource): WantedPiece => {
  const { life, ...rest } = signedText('qe_identity', root, from)
  return {
    ...rest,
    about: 'td_qe',
    url: `${from.service}/tdx/certification/v4/qe/identity?update=early`,
    file: 'intel-qe-identity.json',
    check: life,
  }
}
