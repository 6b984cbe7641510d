import * as v from 'valibot'
import { plugin } from '../../../core/plugin.ts'
import { Prover } from '../../../core/ports/attester.ts'
import { amd, chipOf, makeSnp } from './snp.ts'

const guid = '63da758de6644564adc5f4b93be8accd'

/** A machine of the test platform: reports of an image that the configuration names, with the chip's certificate beside them as a host lays it out. */
export default plugin({
  port: Prover,
  name: 'test-platform',
  settings: v.strictObject({ image: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255)) }),
  create: (_, { image }): Prover => ({
    platform: 'test',
    async prove(reportData) {
      // A chip of its own, since each process makes its own key.
      const chip = chipOf('Genoa').fill(image, 0, 1)
      const { evidence } = makeSnp({
        ...{ now: Date.now(), reportData },
        report: (report) => void report.fill(image, 0x90, 0xc0).set(chip, 0x1a0),
        extensions: (parts) => void (parts['chip'] = amd('4', chip)),
      })
      const vek = Buffer.from(evidence.certificates.vek, 'hex')
      const head = Buffer.alloc(48)
      head.write(guid, 'hex')
      head.writeUInt32LE(48, 16)
      head.writeUInt32LE(vek.length, 20)
      return { type: 'sev-snp', v: 1, report: evidence.report, auxblob: Buffer.concat([head, vek]).toString('hex') }
    },
  }),
})
