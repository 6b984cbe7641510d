import { randomBytes } from 'node:crypto'
import type { Measured } from '../../../core/ports/cluster.ts'
import { configuration, firstConfiguration } from '../config/read-config.ts'
import { inner, sameInside } from '../enclave/connect-enclave.ts'
import type { Config } from '../config/config.ts'
import { type EnclaveProcess, enclaveProcess } from '../enclave/enclave-child.ts'
import { standardOutput, writeLog } from '../log/log.ts'
import { announce } from '../commands/serve.ts'
import { isTerminal } from '../screen/style.ts'
import { signalled } from '../signals.ts'
import { type Member, crew } from './pool.ts'
import { loans } from './enclave-leases.ts'
import type { Told } from './worker.ts'
import { within } from './with-timeout.ts'

/** Ms that one worker, which may stand still, holds up the others. */
const longest = 60_000

/** What a worker draws; nothing where it is gone meanwhile. */
const drawnBy = (worker: Member | undefined): Promise<string> =>
  worker === undefined ? Promise.resolve('') : worker.line.ask<string>('drawn', isTerminal()).catch(() => '')

/** Leads workers that serve one port: has the one confidential process, tells all of them what to serve, and ends after them. */
export const lead = async (env: NodeJS.ProcessEnv, count: number): Promise<void> => {
  const secret = randomBytes(32).toString('hex')
  /** Each worker opens what another one sealed for a caller. */
  const together = (config: Config): Config => ({ ...config, keepsakes: { secret, ...config.keepsakes } })
  let config = together(await firstConfiguration(env))
  if (config.limits.redis === undefined) throw new Error('--workers needs limits.redis (shared limits)')
  const log = writeLog(config.log.level, standardOutput(), isTerminal())
  const opened = async (config: Config): Promise<EnclaveProcess | null> =>
    config.enclave.connect === undefined ? enclaveProcess(await inner(config), log) : null
  let enclave = await opened(config)
  const { lend, back, retire } = loans()
  let turn: Promise<unknown> = Promise.resolve()
  /** Reloads run one after the other: a worker that reloads meanwhile would serve by another configuration than the rest. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const it = turn.then(work)
    turn = it.catch(() => undefined)
    return it
  }

  const workers = crew(
    (member) => ({
      begin: () =>
        inTurn(async (): Promise<Told> => {
          member().begun = true
          if (enclave !== null) lend(enclave, member())
          return { config, socket: enclave?.socket ?? null }
        }),
      back: (socket: string) => back(socket, member()),
      reload: () => inTurn(reload),
      measured: async () => {
        const others = begun().filter((it) => it !== member())
        const heard = await Promise.all(
          others.map(({ line }) => within(1_000, line.ask<Measured>('measured')).catch(() => null)),
        )
        return heard.filter((it) => it !== null)
      },
    }),
    log,
  )
  const begun = (): readonly Member[] => [...workers.members].filter(({ begun, leaving }) => begun && !leaving)

  /** The first worker finds what is wrong; a configuration that it takes is taken by the others, or they are replaced. */
  const reload = async (): Promise<void> => {
    const next = together(await configuration(env))
    const inside = sameInside(config, next) ? enclave : await opened(next)
    const told: Told = { config: next, socket: inside?.socket ?? null }
    const renew = (member: Member) => {
      if (inside !== null) lend(inside, member)
      return within(longest, member.line.ask('renew', told))
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
    // The first one alone, since it may find that somebody needs a key.
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
    const lingers = await signalled()
    for (const signal of ['SIGINT', 'SIGTERM'])
      process.once(signal, () => workers.members.forEach((member) => member.kill()))
    await workers.close(lingers)
  } finally {
    await workers.close(false)
    if (enclave !== null) retire(enclave)
    await log.dispose?.()
  }
}
