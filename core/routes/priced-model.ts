import type { BilledModel } from '../inference/metering/meter.ts'
import type { Enclave, Trailer } from '../ports/enclave.ts'

const patienceMs = 10_000

/** The model that served a sealed call, with its prices; null when no model served it. A caller that left still pays. */
export const billedModel = async (enclave: Enclave, { model }: Trailer): Promise<BilledModel | null> => {
  if (model === null) return null
  const served = await enclave.models(AbortSignal.timeout(patienceMs)).catch(() => [])
  return served.find(({ name }) => name === model) ?? null
}
