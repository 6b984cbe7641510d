import { once } from 'node:events'
import { allowedVariables } from '../../../adapters/production/enclave/enclave-child.ts'
import { socketsBeside } from '../../fakes/opened.ts'
import { childrenOf } from '../hunt/processes.ts'
import { startChild } from './child.ts'
import type { EnclaveState } from './inside.ts'

/** A confidential process, as `sealgate enclave` is one, whose clock hurries. */
export interface Enclave {
  state(): Promise<EnclaveState>
  sockets(): Promise<number>
  stop(): Promise<void>
}

export interface Hurry {
  /** Unix time in ms. */
  readonly since: number
  readonly times: number
}

/** Ms: the shortest life that a key can be given. */
export const epoch = 600_000
/** Bytes of opened indexes: so few that it is full before anything is measured. */
const cache = 1_000_000

export const startEnclave = async (config: object, listen: string, { since, times }: Hurry): Promise<Enclave> => {
  const env = {
    ...allowedVariables(process.env),
    TMPDIR: listen.replace(/\/[^/]*$/, ''),
    SINCE: `${since}`,
    TIMES: `${times}`,
  }
  const child = startChild('inside', env)
  const told = { ...config, enclave: { listen, epoch, retrieval: { cache } } }
  child.process.stdin!.write(`${JSON.stringify(told)}\n`)
  await once(child.process.stdout!, 'data')
  return {
    state: () => child.ask('state'),
    sockets: () => socketsBeside(child.process, childrenOf(child.process.pid!)),
    stop: () => child.stop(),
  }
}
