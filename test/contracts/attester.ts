import { deepEqual, equal, notDeepEqual } from 'node:assert/strict'
import type { Prover } from '../../core/ports/attester.ts'
import { type Contract, proof } from './contract.ts'

const over = (first: number) => Uint8Array.from({ length: 64 }, (_, at) => (first + at) & 255)

const contract = {
  'says what kind of evidence it gives, always the same': async (fresh) => {
    const prover = await fresh()
    const [one, other] = [await prover.prove(over(1)), await prover.prove(over(2))]
    equal(typeof one.type, 'string', 'has a type')
    equal(one.type, other.type, 'of one kind')
  },
  'is evidence over exactly these bytes': async (fresh) => {
    const prover = await fresh()
    notDeepEqual(await prover.prove(over(1)), await prover.prove(over(2)), 'other bytes, other evidence')
  },
  'is plain JSON': async (fresh) => {
    const evidence = await (await fresh()).prove(over(3))
    deepEqual(JSON.parse(JSON.stringify(evidence)), evidence, 'survives the way')
  },
} satisfies Contract<Prover>

const right: Prover = {
  platform: 'paper',
  prove: async (reportData) => ({ type: 'paper', over: Buffer.from(reportData).toString('hex') }),
}

export const prover = proof<Prover, typeof contract>({
  contract,
  right: () => right,
  wrong: {
    'says what kind of evidence it gives, always the same': () => ({
      prove: async (reportData) => ({ type: `paper ${reportData[0]}`, over: 1 }),
    }),
    'is evidence over exactly these bytes': () => ({ prove: async () => ({ type: 'paper' }) }),
    'is plain JSON': (prover) => ({
      prove: async (reportData) => ({ ...(await prover.prove(reportData)), at: new Date(0) }),
    }),
  },
})
