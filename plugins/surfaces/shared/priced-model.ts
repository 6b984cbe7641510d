import type { BilledModel, SealedModels } from '../../../core/inference/metering/meter.ts'
import type { Enclave, Trailer } from '../../../core/ports/enclave.ts'

const patienceMs = 10_000

/** The models that each enclave has told last. */
const latest = new WeakMap<Enclave, readonly BilledModel[]>()

/** None while the enclave is silent. */
export const sealedModels =
  (enclave: Enclave): SealedModels =>
  async () => {
    try {
      const models = await enclave.models(AbortSignal.timeout(patienceMs))
      latest.set(enclave, models)
      return models
    } catch {
      // A silent enclave prices nothing; its calls tell the fault.
      return []
    }
  }

/**
 * The model that served a sealed call, with its prices; null when no model served it. A caller that left still pays. Models
 * that the enclave told since the call began are not waited for, so the call is booked before its request is logged.
 */
export const billedModel = async (enclave: Enclave, { model }: Trailer): Promise<BilledModel | null> => {
  if (model === null) return null
  const named = (models: readonly BilledModel[]) => models.find(({ name }) => name === model)
  return named(latest.get(enclave) ?? []) ?? named(await sealedModels(enclave)()) ?? null
}
