import { createPrivateKey, sign } from 'node:crypto'
import { plugin } from '../../core/plugin.ts'
import { Prover } from '../../core/ports/attester.ts'

// Published on purpose: every reader of this file can sign such evidence, so the evidence proves nothing.
const seed = Buffer.from('5ea19a7e'.repeat(8), 'hex')
const key = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
  format: 'der',
  type: 'pkcs8',
})

export default plugin({
  port: Prover,
  name: 'dev',
  create: (): Prover => ({
    platform: 'development',
    async prove(reportData) {
      return {
        type: 'dev',
        env: 'development',
        report_data: Buffer.from(reportData).toString('hex'),
        signature: sign(null, reportData, key).toString('hex'),
      }
    },
  }),
})
