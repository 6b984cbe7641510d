import type { BilledModel, SealedModels } from '../../../core/inference/metering/meter.ts'
import type { Enclave, Trailer } from '../../../core/ports/enclave.ts'

const patienceMs = 10_000

/** None while the enclave is silent. */
export const sealedModels =
  (enclave: Enclave): SealedModels =>
  () =>
    enclave.models(AbortSignal.timeout(patienceMs)).catch(() => [])

/** The model that served a sealed call, with its prices; null when no model served it. A caller that left still pays. */
export const billedModel = async (enclave: Enclave, { model }: Trailer): Promise<BilledModel | null> => {
  if (model === null) return null
  const served = await sealedModels(enclave)()
  return served.find(({ name }) => name === model) ?? null
}
