import { get } from 'node:https'
import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { boundTo, confidentialBackend, exporterOf } from './confidential-backend.ts'

// A confidential machine with a model server. Its parent plays the chip, which alone signs reports.

/** What the parent tells: the TLS key of the fleet, how it binds, and whose evidence the machine presents instead of its own. */
export interface Boot {
  readonly own: { readonly key: string; readonly cert: string; readonly info: string }
  readonly version: 1 | 2
  readonly presents: string | null
}

/** The machine asks its chip for a report, or tells where it listens and what it heard. */
export type FromMachine =
  { readonly id: number; readonly reportData: string } | { readonly base: string } | { readonly prompt: string }

const tell = (message: FromMachine): void => {
  if (process.send?.(message) === undefined) throw new Error('A parent plays the chip of this machine')
}

const waiting = new Map<number, (evidence: object) => void>()
let ids = 0
const report = (reportData: Uint8Array): Promise<object> =>
  new Promise((resolve) => {
    waiting.set(++ids, resolve)
    tell({ id: ids, reportData: Buffer.from(reportData).toString('hex') })
  })

const documentOf = (base: string, nonce: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const place = `${base}/.well-known/sealgate-evidence?nonce=${nonce}`
    get(place, { rejectUnauthorized: false, agent: false }, (answer) => {
      let text = ''
      answer.on('data', (part) => (text += part)).on('end', () => resolve(text))
    }).on('error', reject)
  })

const boot = async ({ own, version, presents }: Boot): Promise<void> => {
  const attest = async (nonce: string, response: ServerResponse, info: Uint8Array) => {
    if (presents !== null) return response.end(await documentOf(presents, nonce))
    const exporter = version === 1 ? null : exporterOf(response, nonce)
    return response.end(JSON.stringify({ version, evidence: await report(boundTo(info, nonce, exporter)) }))
  }
  const info = new Uint8Array(Buffer.from(own.info, 'hex'))
  // The test that starts the process ends it.
  const confidential = await confidentialBackend({ teardown: () => undefined } as unknown as Test, attest, {
    ...own,
    info,
  })
  const push = confidential.prompts.push.bind(confidential.prompts)
  confidential.prompts.push = (prompt) => {
    tell({ prompt })
    return push(prompt)
  }
  tell({ base: confidential.base })
}

process.on('message', (message: Boot | { readonly id: number; readonly evidence: object }) => {
  if ('own' in message) void boot(message)
  else waiting.get(message.id)?.(message.evidence)
})
process.on('disconnect', () => process.exit())
