import { subscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'
import { enclave } from '../../../adapters/production/enclave/enclave-main.ts'
import { type Memory, memoryOf } from './child.ts'
import { hurry } from './hurry.ts'

/** What the confidential process tells of itself. */
export interface EnclaveState extends Memory {
  /** Parsers that have not ended. */
  readonly threads: number
}

let threads = 0
subscribe('worker_threads', (message) => {
  threads++
  const { worker } = message as { readonly worker: Worker }
  worker.once('exit', () => threads--)
})

process.on('message', async () => {
  const state: EnclaveState = { ...(await memoryOf()), threads }
  process.send!(state)
})

const { SINCE, TIMES } = process.env
hurry(Number(SINCE), Number(TIMES))
await enclave({}, { written: null, options: [], arguments: ['enclave'], variables: [] })
