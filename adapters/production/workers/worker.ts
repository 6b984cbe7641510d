import cluster from 'node:cluster'
import { plugin, use } from '../../../core/plugin.ts'
import type { Fitting } from '../../../core/container.ts'
import { type Measured, Siblings } from '../../../core/ports/cluster.ts'
import type { ReadConfiguration } from '../config/read-config.ts'
import { ignoreSignals } from './signals.ts'
import { type IpcChannel, type IpcMessage, ipcChannel } from './ipc.ts'

/** The configuration of a worker, sent before it begins and at each reload. */
export interface WorkerConfig extends ReadConfiguration {
  /** The socket of the shared enclave process; null when the configuration names other processes. */
  readonly socket: string | null
}

/** What a worker asks all others. */
export interface SiblingQuestion {
  readonly question: string
  readonly value: unknown
}

/** The tasks of a worker for its leader. */
export interface WorkerTasks {
  renew(workerConfig: WorkerConfig): Promise<void>
  /**
   * Called when the leader gets the signal to reload. This worker records the reload in the audit and asks all workers to
   * reload.
   */
  reload(): Promise<void>
  /** This worker's own numbers; the worker that was asked adds up those of all. */
  measured(): Promise<Measured>
  /** The first screen without a key, or its plain lines. */
  drawn(terminal: boolean): Promise<string>
}

/** A worker's connection to its leader and, through the leader, to the other workers. */
export interface WorkerLink {
  readonly told: WorkerConfig
  /** This worker no longer needs the enclave process at the socket. */
  back(socket: string): void
  /** All workers read the configuration again. */
  reload(): Promise<void>
  readonly siblings: Fitting<Siblings>
  /** From now on, this worker answers the leader. */
  begin(work: WorkerTasks): void
  /** Resolves when this worker is to end. True when load balancers get time to notice. */
  readonly leave: Promise<boolean>
}

/** The worker's end of the channel. Only the leader reacts to signals. */
export const joinLeader = async (process: NodeJS.Process): Promise<WorkerLink> => {
  ignoreSignals(process)
  // Without this flag, Node would end the process with open requests when the channel closes.
  cluster.worker!.exitedAfterDisconnect = true
  let begin: (work: WorkerTasks) => void = () => {}
  const work = new Promise<WorkerTasks>((resolve) => (begin = resolve))
  let go: (lingers: boolean) => void = () => {}
  const leave = new Promise<boolean>((resolve) => (go = resolve))
  const answers = new Map<string, (value: unknown) => unknown>()
  const lead: IpcChannel = ipcChannel(
    (letter) => process.connected && process.send?.(letter, undefined, {}, () => undefined),
    {
      renew: async (workerConfig: WorkerConfig) => (await work).renew(workerConfig),
      reload: async () => (await work).reload(),
      measured: async () => (await work).measured(),
      drawn: async (terminal: boolean) => (await work).drawn(terminal),
      ready: async () => void (await work),
      leave: (lingers: boolean) => go(lingers),
      asked: ({ question, value }: SiblingQuestion) => answers.get(question)?.(value) ?? null,
    },
  )
  process.on('message', (letter: IpcMessage) => lead.hear(letter))
  process.once('disconnect', () => {
    lead.close()
    go(false)
  })
  const siblings = plugin({
    port: Siblings,
    name: 'workers',
    create: (): Siblings => ({
      measured: () => lead.ask<readonly Measured[]>('measured'),
      ask: (question, value) => lead.ask<readonly unknown[]>('others', { question, value } satisfies SiblingQuestion),
      answer: (question, give) => void answers.set(question, give),
    }),
  })
  return {
    told: await lead.ask<WorkerConfig>('begin'),
    // When the leader is gone, the enclave process is gone, too.
    back: (socket) => void lead.ask('back', socket).catch(() => undefined),
    reload: () => lead.ask<void>('reload'),
    siblings: use(siblings),
    begin,
    leave,
  }
}
