import { randomBytes } from 'node:crypto'
import type { Measured } from '../../../core/ports/cluster.ts'
import { configuration, firstConfiguration } from '../config/read-config.ts'
import { enclaveConfig, isSameEnclave } from '../enclave/connect-enclave.ts'
import type { Config } from '../config/config.ts'
import { type EnclaveProcess, enclaveProcess } from '../enclave/enclave-child.ts'
import { standardOutput, writeLog } from '../log/log.ts'
import { announce } from '../commands/serve.ts'
import { isTerminal } from '../screen/style.ts'
import { onStopSignal } from './signals.ts'
import { type Member, workerPool } from './pool.ts'
import { enclaveLeases } from './enclave-leases.ts'
import type { SiblingQuestion, WorkerConfig } from './worker.ts'
import { withTimeout } from './with-timeout.ts'

/** In ms: the longest time that a stuck worker delays the other workers. */
const stuckWorkerMs = 60_000

/** The first screen from a worker; empty when the worker has ended. */
const drawnBy = (worker: Member | undefined): Promise<string> =>
  worker === undefined ? Promise.resolve('') : worker.line.ask<string>('drawn', isTerminal()).catch(() => '')

/** What the workers answer; without those that fail or are late. */
const answersOf = async <T>(members: readonly Member[], question: string, value?: unknown): Promise<readonly T[]> => {
  const asked = members.map(({ line }) => withTimeout(1_000, line.ask<T>(question, value)))
  return (await Promise.allSettled(asked)).flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []))
}

/**
 * Leads the workers of one port: owns the shared enclave process, sends the configuration to each worker, and ends
 * after them.
 */
export const leadWorkers = async (env: NodeJS.ProcessEnv, count: number): Promise<void> => {
  const secret = randomBytes(32).toString('hex')
  /** A shared secret lets each worker open the sealed state that another worker gave to a caller. */
  const together = (config: Config): Config => ({ ...config, keepsakes: { secret, ...config.keepsakes } })
  let config = together(await firstConfiguration(env))
  if (config.limits.redis === undefined) throw new Error('--workers needs limits.redis (shared limits)')
  const log = writeLog(config.log.level, standardOutput(), isTerminal())
  const opened = async (config: Config): Promise<EnclaveProcess | null> =>
    config.enclave.connect === undefined ? enclaveProcess(await enclaveConfig(config), log) : null
  let enclave = await opened(config)
  const { lend, back, retire } = enclaveLeases()
  let turn: Promise<unknown> = Promise.resolve()
  /** Reloads run one after the other; otherwise workers would serve different configurations. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const it = turn.then(work)
    turn = it.catch(() => undefined)
    return it
  }

  const workers = workerPool(
    (member) => ({
      begin: () =>
        inTurn(async (): Promise<WorkerConfig> => {
          member().begun = true
          if (enclave !== null) lend(enclave, member())
          return { config, socket: enclave?.socket ?? null }
        }),
      back: (socket: string) => back(socket, member()),
      reload: () => inTurn(reload),
      measured: () => answersOf<Measured>(othersOf(member()), 'measured'),
      others: (question: SiblingQuestion) => answersOf(othersOf(member()), 'asked', question),
    }),
    log,
  )
  const othersOf = (member: Member): readonly Member[] => begun().filter((it) => it !== member)
  const begun = (): readonly Member[] => [...workers.members].filter(({ begun, leaving }) => begun && !leaving)

  /** The first worker checks the configuration. When it accepts, the others accept as well or are replaced. */
  const reload = async (): Promise<void> => {
    const next = together(await configuration(env))
    const inside = isSameEnclave(config, next) ? enclave : await opened(next)
    const workerConfig: WorkerConfig = { config: next, socket: inside?.socket ?? null }
    const renew = (member: Member) => {
      if (inside !== null) lend(inside, member)
      return withTimeout(stuckWorkerMs, member.line.ask('renew', workerConfig))
    }
    const [first, ...others] = begun()
    try {
      if (first === undefined) throw new Error('no worker is running')
      await renew(first)
    } catch (error) {
      if (inside !== null && inside !== enclave) {
        retire(inside)
        if (first !== undefined) back(inside.socket, first)
      }
      throw error
    }
    await Promise.all(others.map((it) => renew(it).catch(() => workers.replace(it))))
    if (enclave !== null && enclave !== inside) retire(enclave)
    config = next
    enclave = inside
  }

  try {
    // The first worker starts alone, since it may make the first key.
    const { address, port, addressType } = await workers.start()
    await begun()[0]?.line.ask('ready')
    await Promise.all(Array.from({ length: count - 1 }, () => workers.start()))
    const draw = () => drawnBy(begun()[0])
    if (isTerminal()) process.stdout.write(await draw())
    announce({ address, port, family: addressType === 6 ? 'IPv6' : 'IPv4' }, draw)
    process.on(
      'SIGHUP',
      () =>
        void begun()[0]
          ?.line.ask('reload')
          .catch(() => undefined),
    )
    const lingers = await onStopSignal()
    for (const signal of ['SIGINT', 'SIGTERM'])
      process.once(signal, () => workers.members.forEach((member) => member.kill()))
    await workers.close(lingers)
  } finally {
    await workers.close(false)
    if (enclave !== null) retire(enclave)
    await log.dispose?.()
  }
}
