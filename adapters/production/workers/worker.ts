import cluster from 'node:cluster'
import { plugin, use } from '../../../core/plugin.ts'
import { type Measured, Siblings } from '../../../core/ports/cluster.ts'
import type { Config } from '../config/config.ts'
import { deaf } from '../signals.ts'
import { type Exchange, type Letter, exchange } from './ipc.ts'

/** The configuration of a worker, sent before it begins and at each reload. */
export interface Told {
  readonly config: Config
  /** Of the one confidential process that all share; null where the configuration names others. */
  readonly socket: string | null
}

/** What a worker does for the process that leads it. */
export interface Work {
  renew(told: Told): Promise<void>
  /** Somebody has told the one who leads to reload; this worker writes it down and asks everybody to. */
  reload(): Promise<void>
  measured(): Promise<Measured>
  /** The first screen, without a key, or its plain lines. */
  drawn(terminal: boolean): Promise<string>
}

/** How a worker stands to the process that leads it, and through that to the other workers. */
export interface Team {
  readonly told: Told
  /** The confidential process at that socket is needed here no more. */
  back(socket: string): void
  /** Everybody reads the configuration again. */
  reload(): Promise<void>
  readonly siblings: ReturnType<typeof use<Siblings, any, any>>
  /** From now on it answers. */
  begin(work: Work): void
  /** When this worker is to come to its end; true when others that send here should be given time to see that. */
  readonly leave: Promise<boolean>
}

/** The worker's end. Signals are for the process that leads. */
export const joined = async (it: NodeJS.Process): Promise<Team> => {
  deaf(it)
  // Otherwise the end of the line would end the process with requests under way.
  cluster.worker!.exitedAfterDisconnect = true
  let begin: (work: Work) => void = () => {}
  const work = new Promise<Work>((resolve) => (begin = resolve))
  let go: (lingers: boolean) => void = () => {}
  const leave = new Promise<boolean>((resolve) => (go = resolve))
  const lead: Exchange = exchange((letter) => it.connected && it.send?.(letter, undefined, {}, () => undefined), {
    renew: async (told: Told) => (await work).renew(told),
    reload: async () => (await work).reload(),
    measured: async () => (await work).measured(),
    drawn: async (terminal: boolean) => (await work).drawn(terminal),
    ready: async () => void (await work),
    leave: (lingers: boolean) => go(lingers),
  })
  it.on('message', (letter: Letter) => lead.hear(letter))
  it.once('disconnect', () => {
    lead.close()
    go(false)
  })
  const siblings = plugin({
    port: Siblings,
    name: 'workers',
    create: (): Siblings => ({ measured: () => lead.ask<readonly Measured[]>('measured') }),
  })
  return {
    told: await lead.ask<Told>('begin'),
    // When the one who leads is gone, so is the process.
    back: (socket) => void lead.ask('back', socket).catch(() => undefined),
    reload: () => lead.ask<void>('reload'),
    siblings: use(siblings),
    begin,
    leave,
  }
}
