import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { Prover } from '../../../core/ports/attester.ts'
import dev from '../../../plugins/evidence/dev.ts'
import { conform } from '../../contracts/contract.ts'
import { prover } from '../../contracts/attester.ts'
import { made } from '../../fitted.ts'

t.test('contract', (t) => conform(t, prover.contract, () => made(Prover, use(dev))))

t.test('says that it is for development', async (t) => {
  t.match(await made(Prover, use(dev)).prove(new Uint8Array(64)), { type: 'dev', env: 'development' })
})
