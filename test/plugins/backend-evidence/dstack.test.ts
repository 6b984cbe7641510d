import t from 'tap'
import { use } from '../../../core/plugin.ts'
import { BackendEvidence } from '../../../core/ports/backend-evidence.ts'
import dstack from '../../../plugins/backend-evidence/dstack.ts'
import { backendEvidence } from '../../contracts/backend-evidence.ts'
import { conform } from '../../contracts/contract.ts'
import { made } from '../../fitted.ts'

const form = made(BackendEvidence, use(dstack))

t.test('contract', (t) => conform(t, backendEvidence.contract, () => ({ form, document: new Uint8Array() })))
