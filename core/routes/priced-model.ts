import type { Billed } from '../inference/metering/meter.ts'
import type { Enclave, Trailer } from '../ports/enclave.ts'

const patience = 10_000

/** The model that served a sealed call, with its prices; null where none did. Whoever called may be gone, and still pays. */
export const billed = async (enclave: Enclave, { model }: Trailer): Promise<Billed | null> => {
  if (model === null) return null
  const served = await enclave.models(AbortSignal.timeout(patience)).catch(() => [])
  return served.find(({ name }) => name === model) ?? null
}
