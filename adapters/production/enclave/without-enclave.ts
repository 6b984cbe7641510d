import { Unconfigured } from '../../../core/errors.ts'
import { plugin } from '../../../core/plugin.ts'
import { Enclave } from '../../../core/ports/enclave.ts'

const refuse = async (): Promise<never> => {
  throw new Unconfigured({ validator: { enclave: 'Expected an enclave: the configuration says null' } })
}

/** Of a gateway that serves without sealing. */
export const withoutEnclave = plugin({
  port: Enclave,
  name: 'without-enclave',
  create: (): Enclave => ({ keys: refuse, attest: refuse, models: async () => [], handle: refuse }),
})
