import * as v from 'valibot'
import { plugin } from '../../../core/plugin.ts'
import { Enclave } from '../../../core/ports/enclave.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Clock, Fetch, Log } from '../../../core/ports/platform.ts'
import { ProofObserver } from '../../../core/ports/proof-observer.ts'
import type { TestRoots } from '../../../plugins/sealed/evidence/policy.ts'
import { CollateralShape } from '../config/collateral.ts'
import { provenEnclave } from '../evidence/proven-enclave.ts'
import type { Certificates } from './certificates.ts'
import { enclaveClient } from './enclave-client.ts'
import { enclaveProcess } from './enclave-child.ts'
import { enclavePool } from './enclave-pool.ts'

/** The files and services that the gateway adds to evidence. Only code can set test roots; a configuration cannot. */
const proof = {
  collateral: v.optional(CollateralShape, {}),
  releases: v.optional(v.string()),
  notices: v.optional(v.string()),
  testRoots: v.optional(v.custom<TestRoots>((roots) => typeof roots === 'object')),
} as const

const needs = { clock: Clock, log: Log, fetch: Fetch, rows: MetadataStore, proof: ProofObserver } as const

/** Enclave processes that are already running. */
export const connectedEnclaves = plugin({
  port: Enclave,
  name: 'connected',
  settings: v.strictObject({
    connect: v.pipe(v.array(v.string()), v.minLength(1)),
    tls: v.optional(v.nullable(v.custom<Certificates>((tls) => typeof tls === 'object')), null),
    ...proof,
  }),
  needs,
  create: (supplied, { connect, tls, ...settings }) => {
    const lines = connect.map((at) => enclaveClient(at, tls))
    return provenEnclave(enclavePool(lines, supplied.clock, supplied.log), supplied, settings)
  },
})

/** An enclave process that this gateway starts. */
export const startedEnclave = plugin({
  port: Enclave,
  name: 'started',
  settings: v.strictObject({ config: v.looseObject({}), ...proof }),
  needs,
  create: (supplied, { config, ...settings }): Enclave => {
    const { socket, leave } = enclaveProcess(config, supplied.log)
    return provenEnclave(near(socket, supplied.clock, supplied.log, leave), supplied, settings)
  },
})

/** An enclave process that the leader has started for all workers. */
export const lentEnclave = plugin({
  port: Enclave,
  name: 'lent',
  settings: v.strictObject({ socket: v.string(), back: v.function(), ...proof }),
  needs,
  create: (supplied, { socket, back, ...settings }) =>
    provenEnclave(near(socket, supplied.clock, supplied.log, back), supplied, settings),
})

/** A pool of one: health checks, and the restart of the process, look the same as with several. */
const near = (socket: string, clock: Clock, log: Log, over: () => unknown): Enclave => {
  const line = enclavePool([enclaveClient(socket, null)], clock, log)
  return {
    ...line,
    async dispose() {
      await line.dispose?.()
      over()
    },
  }
}
