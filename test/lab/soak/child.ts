import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A process of the soak that answers questions about itself. */
export interface Child {
  readonly process: ChildProcess
  /** One at a time. */
  ask<T>(question: string): Promise<T>
  stop(): Promise<void>
}

export const startChild = (name: string, env: NodeJS.ProcessEnv): Child => {
  const file = fileURLToPath(import.meta.url).replace(/child\.([jt]s)$/, `${name}.$1`)
  const child = fork(file, { env, execArgv: ['--expose-gc'], stdio: ['pipe', 'pipe', 'inherit', 'ipc'] })
  let stopped = false
  child.once('exit', (code, signal) => {
    if (!stopped) throw new Error(`The ${name} of the soak ended with ${code ?? signal}`)
  })
  return {
    process: child,
    async ask(question) {
      child.send(question)
      return (await once(child, 'message'))[0]
    },
    async stop() {
      stopped = true
      const ended = once(child, 'exit')
      // A confidential process heeds this alone, any other the signal.
      child.stdin!.end()
      child.kill()
      await ended
    },
  }
}

export interface Memory {
  /** Bytes. */
  readonly rss: number
  /** Bytes of what JavaScript holds, after a collection. */
  readonly kept: number
}

/** Of the process that asks. */
export const memoryOf = async (): Promise<Memory> => {
  // What the first one finds dead may hold on to more until its own end was run.
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, kept: heapUsed + external }
}
