import { once } from 'node:events'
import type { Swept } from '../../../plugins/sealed/files/sweep.ts'
import { openedBy, socketsBeside } from '../../fakes/opened.ts'
import { childrenOf } from '../hunt/processes.ts'
import { startChild } from './child.ts'
import type { GatewayState, Ready } from './server.ts'

/** A gateway in a process of its own. */
export interface Gateway {
  readonly base: string
  /** A key of each caller, each of another user. */
  readonly keys: readonly string[]
  state(): Promise<GatewayState>
  sweep(): Promise<Swept>
  /** Requests that did not come to their end. */
  drain(): Promise<number>
  sockets(): Promise<number>
  /** Files that it has open under its folder of stored bytes. */
  files(): Promise<number>
  stop(): Promise<void>
}

export const startGateway = async (config: object, data: string, callers: number): Promise<Gateway> => {
  const told = { CONFIG: JSON.stringify(config), DATA: data, CALLERS: String(callers), TMPDIR: data }
  const child = startChild('server', { ...process.env, NODE_ENV: 'production', ...told })
  child.process.stdout!.resume()
  const [{ port, keys }] = (await once(child.process, 'message')) as [Ready]
  return {
    base: `http://127.0.0.1:${port}`,
    keys,
    state: () => child.ask('state'),
    sweep: () => child.ask('sweep'),
    drain: () => child.ask('drain'),
    sockets: () => socketsBeside(child.process, childrenOf(child.process.pid!)),
    files: async () => ((await openedBy(child.process)) ?? []).filter((text) => text.includes('/blobs/')).length,
    stop: () => child.stop(),
  }
}
