import type { Supplied } from '../../../core/container.ts'
import { Enclave, type SealedReply } from '../../../core/ports/enclave.ts'
import { ReceiptLog } from '../../sealed/log/receipt-log.ts'
import { sealedModels } from './priced-model.ts'

/** The needs of a route that sends sealed requests into the enclave. */
export const enclaveNeeds = { enclave: Enclave, receipts: ReceiptLog } as const

/** Sends a sealed request into the enclave. The receipt of the answer enters the log of its organisation. */
export const callEnclave = async (
  { enclave, receipts }: Supplied<typeof enclaveNeeds>,
  ...call: Parameters<Enclave['handle']>
): Promise<SealedReply> => {
  // The answer is booked by these.
  void sealedModels(enclave)()
  const reply = await enclave.handle(...call)
  const [, , { organization }] = call
  receipts.enter(organization, reply)
  return reply
}
