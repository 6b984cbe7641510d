import { opensHttp } from '../listening.ts'
import { createServer } from 'node:http'
import type { Test } from 'tap'
import { pemOf } from './certificates.ts'

type Members = Readonly<Record<string, string>>

/** What the makers' services would say beside this evidence, by path; the query is left out. */
export const answersFor = (evidence: {
  readonly certificates?: Members
  readonly collateral?: Members
}): Record<string, { body: Uint8Array | string; headers?: Record<string, string> }> => {
  const { certificates, collateral = {} } = evidence
  const hex = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'hex')
  if (certificates) {
    return {
      vek: { body: hex(certificates['vek']) },
      cert_chain: { body: pemOf(hex(certificates['ica']), hex(certificates['ark'])) },
      crl: { body: hex(collateral['crl']) },
    }
  }
  const signed = (name: string, holder: string, header: string) => ({
    body: `{"${holder}":${collateral[name]},"signature":"${collateral[`${name}_signature`]}"}`,
    headers: { [header]: encodeURIComponent(collateral[`${name}_issuer_chain`] ?? '') },
  })
  return {
    pckcrl: { body: hex(collateral['pck_crl']) },
    rootlist: { body: hex(collateral['root_ca_crl']) },
    tcb: signed('tcb_info', 'tcbInfo', 'TCB-Info-Issuer-Chain'),
    identity: signed('qe_identity', 'enclaveIdentity', 'SGX-Enclave-Identity-Issuer-Chain'),
  }
}

/** The services of AMD and Intel on the loopback, which say what the test lets them say. */
export const makers = async (t: Test) => {
  const answers = new Map<string, ReturnType<typeof answersFor>[string]>()
  const asked: string[] = []
  let down = false
  const server = createServer(({ url = '/' }, response) => {
    asked.push(url)
    const path = url.replace(/\?.*$/, '')
    const last = path.slice(path.lastIndexOf('/') + 1)
    const found = answers.get(/^[0-9a-f]{16,128}$/.test(last) ? 'vek' : last)
    if (down || found === undefined) return void response.writeHead(503).end()
    response.writeHead(200, found.headers ?? {}).end(found.body)
  })
  const base = await opensHttp(t, server)
  return {
    /** As settings of `enclave.collateral`. */
    settings: { amd: base, intel: base, intelRootList: `${base}/rootlist` },
    asked,
    say(record: ReturnType<typeof answersFor>) {
      for (const [name, answer] of Object.entries(record)) answers.set(name, answer)
    },
    fall: (flag: boolean) => void (down = flag),
  }
}
