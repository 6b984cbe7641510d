import { get } from 'node:https'
import type { Test } from 'tap'
import { type Attest, confidentialBackend, documentOver, exporterOf, keyAlone, madeAt } from './confidential-backend.ts'
import { makeSnp } from './snp.ts'

const day = 86_400_000
/** SHA-256 of the root of the documents that are made here. */
export const testRoots = { 'sev-snp': makeSnp({ now: madeAt, reportData: new Uint8Array(64) }).roots }
export const measurements = ['ab'.repeat(48)]

/** Evidence that holds but for one thing. */
export const changed =
  (change: Parameters<typeof documentOver>[3]): Attest =>
  (nonce, response, info) =>
    response.end(documentOver(info, nonce, exporterOf(response, nonce), change))

export interface Case {
  readonly attest?: Attest
  readonly settings?: object
  /** The reason of a refusal; null for a backend that gives no document. */
  readonly reason: string | null
}

const read = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false }, (answer) => {
      let text = ''
      answer.on('data', (part) => (text += part)).on('end', () => resolve(text))
    }).on('error', reject)
  })

/** What refuses a backend, each wrong in one thing. */
export const unverifiedBackends = async (t: Test): Promise<Readonly<Record<string, Case>>> => {
  const real = await confidentialBackend(t)
  const relayed = (nonce: string) => read(`${real.base}/.well-known/sealgate-evidence?nonce=${nonce}`)
  const turin = { fmc: 1, bootloader: 1, tee: 1, snp: 1, microcode: 1 }
  return {
    'a machine in the middle with the real evidence': {
      attest: async (nonce, response) => response.end(await relayed(nonce)),
      reason: 'report_data_mismatch',
    },
    'evidence of the key alone': { attest: keyAlone, reason: 'policy_refused' },
    'evidence of the key alone that says version 2': {
      attest: (nonce, response, info) =>
        response.end(JSON.stringify({ ...JSON.parse(documentOver(info, nonce, null)), version: 2 })),
      reason: 'report_data_mismatch',
    },
    'an unknown version': {
      attest: (nonce, response, info) =>
        response.end(JSON.stringify({ ...JSON.parse(documentOver(info, nonce, null)), version: 3 })),
      reason: 'Error',
    },
    'evidence over another nonce': {
      attest: (nonce, response, info) => response.end(documentOver(info, '07'.repeat(32), exporterOf(response, nonce))),
      reason: 'report_data_mismatch',
    },
    'another measurement': {
      attest: changed({ report: (bytes) => void bytes.fill(0xac, 0x90, 0xc0) }),
      reason: 'measurement_not_allowed',
    },
    'another product': {
      settings: { policy: { measurements, 'sev-snp': { products: ['Turin'], floors: { Turin: turin } } } },
      reason: 'platform_not_allowed',
    },
    'a debugged machine': { attest: changed({ report: (bytes) => void (bytes[0x0a]! |= 0x08) }), reason: 'debug' },
    'a list that ended': {
      attest: changed({ crl: { issued: Date.now() - 60 * day, ends: Date.now() - 8 * day } }),
      reason: 'collateral_expired',
    },
    'a release that no evidence binds': {
      attest: (nonce, response, info) =>
        response.end(
          JSON.stringify({
            ...JSON.parse(documentOver(info, nonce, exporterOf(response, nonce))),
            release: '01'.repeat(32),
          }),
        ),
      reason: 'report_data_mismatch',
    },
    'a document that is no JSON': { attest: (_, response) => response.end('<html>'), reason: 'SyntaxError' },
    'a document that is too long': {
      attest: (nonce, response, info) =>
        response.end(documentOver(info, nonce, exporterOf(response, nonce)) + ' '.repeat(512 * 1024)),
      reason: 'Error',
    },
    'no document': { attest: (_, response) => response.writeHead(404).end(), reason: null },
    'a document elsewhere': {
      attest: (nonce, response) =>
        response.writeHead(302, { location: `${real.base}/.well-known/sealgate-evidence?nonce=${nonce}` }).end(''),
      reason: null,
    },
    'a document under another status': {
      attest: (nonce, response, info) =>
        response.writeHead(203).end(documentOver(info, nonce, exporterOf(response, nonce))),
      reason: null,
    },
    'no answer in time': { attest: () => undefined, settings: { timeout: 300 }, reason: null },
    'a certificate that no authority signed': { settings: { certificate: 'authority' }, reason: null },
  }
}
