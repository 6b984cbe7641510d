import { createHash } from 'node:crypto'
import type { ServiceForm } from '../../../core/ports/backend-evidence.ts'
import { judgeService } from '../../../plugins/sealed/evidence/services/judge.ts'
import { services as known } from '../../../plugins/sealed/evidence/services/machine.ts'
import { textOf } from '../../../plugins/sealed/wire/bytes.ts'
import type { BackendDemand, ProvenChannel } from './backend-demand.ts'

/**
 * Rejects unless the service's document answers this nonce, ends in this TLS key, and names machines of the policy. Bodies
 * go to the machine that runs the model.
 */
export const judgedDocument = async (
  { policy, services }: BackendDemand,
  form: ServiceForm,
  document: Uint8Array,
  key: Uint8Array,
  { challenge: nonce, now }: { readonly challenge: Uint8Array; readonly now: number },
): Promise<ProvenChannel> => {
  const service = known.find((name) => name === form.service)
  if (service === undefined || services === undefined) throw new Error('The service of this evidence is unknown')
  const tlsKey = new Uint8Array(createHash('sha256').update(key).digest())
  const question = { nonce, tlsKey, gpu: null, now }
  const { machines, ends } = await judgeService(
    service,
    textOf(document),
    { platform: policy, lists: services.lists },
    question,
    services.complete(now),
  )
  const machine = machines.find(({ role }) => role === 'model') ?? machines[0]!
  const { platform, measurement, keys } = machine
  return { platform, measurement, ends, keys }
}
