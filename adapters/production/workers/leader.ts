import { randomBytes } from 'node:crypto'
import type { Log } from '../../../core/ports/platform.ts'
import { type ReadConfiguration, configuration } from '../config/read-config.ts'
import { enclaveConfig, isSameEnclave } from '../enclave/connect-enclave.ts'
import type { Config } from '../config/config.ts'
import { type EnclaveProcess, enclaveProcess } from '../enclave/enclave-child.ts'
import { standardOutput, writeLog } from '../log/log.ts'
import { announce } from '../commands/serve.ts'
import { isTerminal } from '../screen/style.ts'
import { type OnHangUp, onStopSignal } from './signals.ts'
import type { IpcAnswers } from './ipc.ts'
import { type Member, type WorkerPool, workerPool } from './pool.ts'
import { measurements } from './measurements.ts'
import type { SiblingQuestion, WorkerConfig } from './worker.ts'

/** In ms: the longest time that a stuck worker delays the other workers. */
const stuckWorkerMs = 60_000

/** The result of the work. Throws after `ms` ms without a result. */
const withTimeout = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('a worker does not answer')), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** The first screen from a worker; empty when the worker has ended. */
const drawnBy = (worker: Member | undefined): Promise<string> =>
  worker === undefined ? Promise.resolve('') : worker.line.ask<string>('drawn', isTerminal()).catch(() => '')

/** What the workers answer; without those that fail or are late. */
const answersOf = async <T>(members: readonly Member[], question: string, value?: unknown): Promise<readonly T[]> => {
  const answers = members.map(({ line }) => withTimeout(1_000, line.ask<T>(question, value)))
  return (await Promise.allSettled(answers)).flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
}

/** What the leader of one port has. */
interface Leader {
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
  readonly leases: ReturnType<typeof enclaveLeases>
  readonly workers: WorkerPool
  /** Reads the configuration, with the secret that lets each worker open sealed state of the others. */
  readonly together: (read: ReadConfiguration) => ReadConfiguration
  read: ReadConfiguration
  enclave: EnclaveProcess | null
}

/** Workers that serve now; a worker that starts or leaves is not asked. */
const begun = ({ workers }: Leader): readonly Member[] =>
  [...workers.members].filter(({ begun, leaving }) => begun && !leaving)

const others = (leader: Leader, member: Member): readonly Member[] => begun(leader).filter((other) => other !== member)

/** Null when the configuration names running enclaves, or none. */
const opened = (config: Config, log: Log): EnclaveProcess | null =>
  config.sealing && config.enclave.connect === undefined ? enclaveProcess(enclaveConfig(config), log) : null

/** The first worker checks the configuration. When it accepts, the others accept as well or are replaced. */
const reload = async (leader: Leader): Promise<void> => {
  const { env, log, leases, workers, enclave } = leader
  const next = leader.together(await configuration(env, leader.read.config))
  const inside = isSameEnclave(leader.read.config, next.config) ? enclave : opened(next.config, log)
  const workerConfig: WorkerConfig = { ...next, socket: inside?.socket ?? null }
  const renew = (member: Member) => {
    if (inside !== null) leases.lend(inside, member)
    return withTimeout(stuckWorkerMs, member.line.ask('renew', workerConfig))
  }
  const [first, ...others] = begun(leader)
  try {
    if (first === undefined) throw new Error('no worker is running')
    await renew(first)
  } catch (error) {
    if (inside !== null && inside !== enclave) {
      leases.retire(inside)
      if (first !== undefined) leases.back(inside.socket, first)
    }
    throw error
  }
  await Promise.all(others.map((other) => renew(other).catch(() => workers.replace(other))))
  if (enclave !== null && enclave !== inside) leases.retire(enclave)
  leader.read = next
  leader.enclave = inside
}

/** Works that run one after the other. */
const oneByOne = () => {
  let turn: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const turned = turn.then(work)
    turn = turned.catch(() => undefined)
    return turned
  }
}

/** Asks each worker that has begun, a leaving one too, since that one still serves. */
const measureAll = async ({ workers }: Leader, { note }: ReturnType<typeof measurements>): Promise<void> => {
  const asked = [...workers.members].filter(({ begun }) => begun)
  // Noted as it comes: an answer that waits for the others could outlive its worker, and count twice.
  const answers = asked.map(async (member) => note(member, await withTimeout(1_000, member.line.ask('measured'))))
  await Promise.allSettled(answers)
}

/** What a worker may ask its leader. Reloads run one after the other; otherwise workers would serve different configurations. */
const answering = (leader: () => Leader) => {
  const inTurn = oneByOne()
  const known = measurements()
  return (member: () => Member): IpcAnswers => ({
    begin: () =>
      inTurn(async (): Promise<WorkerConfig> => {
        const { enclave, read, leases } = leader()
        member().begun = true
        if (enclave !== null) leases.lend(enclave, member())
        return { ...read, socket: enclave?.socket ?? null }
      }),
    back: (socket: string) => leader().leases.back(socket, member()),
    reload: () => inTurn(() => reload(leader())),
    async measured() {
      await measureAll(leader(), known)
      return known.besides(member())
    },
    others: (question: SiblingQuestion) => answersOf(others(leader(), member()), 'asked', question),
  })
}

/** A worker reloads for all, and logs a refusal itself. */
const reloadBySignal = (leader: Leader): void => {
  const [worker] = begun(leader)
  if (worker === undefined) return leader.log.error('reload.refused', { reason: 'no worker is running' })
  worker.line.ask('reload').catch(() => undefined)
}

/** Starts the workers and resolves when they have ended after a signal. */
const ledWorkers = async (leader: Leader, count: number, onHangUp: OnHangUp): Promise<void> => {
  const { workers } = leader
  // The first worker starts alone, since it may make the first key.
  const { address, port, addressType } = await workers.start()
  await begun(leader)[0]?.line.ask('ready')
  await Promise.all(Array.from({ length: count - 1 }, () => workers.start()))
  const draw = () => drawnBy(begun(leader)[0])
  if (isTerminal()) process.stdout.write(await draw())
  announce({ address, port, family: addressType === 6 ? 'IPv6' : 'IPv4' }, draw)
  onHangUp(() => reloadBySignal(leader))
  const lingers = await onStopSignal()
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => workers.members.forEach((member) => member.kill()))
  await workers.close(lingers)
}

/**
 * Leads the workers of one port: owns the shared enclave process, sends the configuration to each worker, and ends
 * after them.
 */
export const leadWorkers = async (env: NodeJS.ProcessEnv, count: number, onHangUp: OnHangUp): Promise<void> => {
  const secret = randomBytes(32).toString('hex')
  const together = ({ config, ...read }: ReadConfiguration): ReadConfiguration => ({
    ...read,
    config: { ...config, keepsakes: { secret, ...config.keepsakes } },
  })
  const read = together(await configuration(env))
  const { config } = read
  if (config.limits.redis === undefined) throw new Error('--workers needs limits.redis (shared limits)')
  const log = writeLog(config.log.level, standardOutput(), isTerminal())
  const enclave = opened(config, log)
  const workers = workerPool(
    answering(() => leader),
    log,
  )
  const leader: Leader = { env, log, leases: enclaveLeases(), workers, together, read, enclave }
  try {
    await ledWorkers(leader, count, onHangUp)
  } finally {
    await workers.close(false)
    if (leader.enclave !== null) leader.leases.retire(leader.enclave)
    await log.dispose?.()
  }
}

/** The workers of each enclave process. A replaced process ends when its last worker has returned it. */
interface EnclaveLeases {
  lend(enclave: EnclaveProcess, member: Member): void
  /** Called when a worker has finished its last request with the process at this socket. */
  back(socket: string, member: Member): void
  /** Marks a process as replaced: no worker begins new requests with it. */
  retire(enclave: EnclaveProcess): void
}

/** A worker that ends returns its process by that: a crash never keeps a replaced process alive. */
const enclaveLeases = (): EnclaveLeases => {
  const lent = new Map<EnclaveProcess, Set<Member>>()
  const retired = new Set<EnclaveProcess>()

  const settle = (enclave: EnclaveProcess) => {
    if (!retired.has(enclave) || lent.get(enclave)?.size) return
    retired.delete(enclave)
    lent.delete(enclave)
    enclave.leave()
  }
  const give = (enclave: EnclaveProcess, member: Member) => {
    lent.get(enclave)?.delete(member)
    settle(enclave)
  }

  return {
    lend(enclave, member) {
      const holders = lent.get(enclave) ?? new Set()
      lent.set(enclave, holders.add(member))
      void member.ended.then(() => give(enclave, member))
    },
    back(socket, member) {
      for (const enclave of lent.keys()) if (enclave.socket === socket) give(enclave, member)
    },
    retire(enclave) {
      retired.add(enclave)
      settle(enclave)
    },
  }
}
