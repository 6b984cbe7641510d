import { buildEnclave } from '../../core/sealed/enclave/assemble.ts'
import { plugin, use } from '../../core/plugin.ts'
import { Enclave } from '../../core/ports/enclave.ts'
import rehearsal from '../../plugins/providers/rehearsal.ts'
import dev from '../../plugins/evidence/dev.ts'
import cache from './cache.ts'
import { clock, fetch, log, random } from './platform.ts'
import { readers } from './readers.ts'
import { tools } from './tools.ts'

/** The enclave inside the gateway's process. Everything works, and the owner of the process sees all plaintext. */
export default plugin({
  port: Enclave,
  name: 'memory',
  create: (): Enclave => {
    const enclaveParts = {
      clock: use(clock),
      random: use(random),
      fetch: use(fetch),
      log: use(log),
      cache: use(cache),
      prover: use(dev),
      upstreams: [use(rehearsal)],
      tools,
      readers,
    }
    return buildEnclave(enclaveParts, {}, {}, new Uint8Array(32))
  },
})
