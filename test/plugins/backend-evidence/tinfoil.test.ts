import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { BackendEvidence } from '../../../core/ports/backend-evidence.ts'
import tinfoil from '../../../plugins/backend-evidence/tinfoil.ts'
import { backendEvidence } from '../../contracts/backend-evidence.ts'
import { conform } from '../../contracts/contract.ts'
import { made } from '../../fitted.ts'

const form = made(BackendEvidence, use(tinfoil))

t.test('contract', (t) => conform(t, backendEvidence.contract, () => ({ form, document: new Uint8Array() })))
