import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readlink } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { State } from './server.ts'

/** A gateway in a process of its own. */
export interface Started {
  readonly base: string
  state(): Promise<State>
  /** Requests that did not come to their end. */
  drain(): Promise<number>
  /** Sockets that the process has open; null where the system does not tell. */
  sockets(): Promise<number | null>
  stop(): Promise<void>
}

export const startGateway = async (env: Readonly<Record<string, string>>): Promise<Started> => {
  const file = fileURLToPath(import.meta.url).replace(/gateway\.([jt]s)$/, 'server.$1')
  const child = fork(file, {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    execArgv: [...process.execArgv, '--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.once('exit', (code) => {
    if (code !== null && code !== 0) throw new Error(`The gateway ended with ${code}`)
  })
  const ask = async <T>(question: string): Promise<T> => {
    child.send(question)
    return ((await once(child, 'message')) as [T])[0]
  }
  const [port] = (await once(child, 'message')) as [number]
  return {
    base: `http://127.0.0.1:${port}`,
    state: () => ask('state'),
    drain: () => ask('drain'),
    async sockets() {
      const folder = `/proc/${child.pid}/fd`
      const files = await readdir(folder).catch(() => null)
      if (files === null) return null
      const links = await Promise.all(files.map((file) => readlink(`${folder}/${file}`).catch(() => '')))
      return links.filter((link) => link.startsWith('socket:')).length
    },
    async stop() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}
