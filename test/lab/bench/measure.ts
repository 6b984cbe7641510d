import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'undici'

/** A server in a process of its own, which tells how much CPU it used. */
export interface Subject {
  readonly base: string
  /** Microseconds of CPU since the process began. */
  cpu(): Promise<number>
  /** Bytes resident, after a collection where the process allows one. */
  memory(): Promise<number>
  /** Anything else that a subject answers with a number. */
  ask(question: string): Promise<number>
  stop(): Promise<void>
}

export const start = async (file: string, env: Readonly<Record<string, string>> = {}): Promise<Subject> => {
  const child = fork(new URL(`./subjects/${file}.js`, import.meta.url), {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ask = async (question: string): Promise<number> => {
    child.send(question)
    const [answer] = (await once(child, 'message')) as [number]
    return answer
  }
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${file} ended with ${code}`)))
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number]
  return {
    base: `http://127.0.0.1:${port}`,
    cpu: () => ask('cpu'),
    memory: () => ask('memory'),
    ask,
    async stop() {
      child.kill()
      await ended.catch(() => undefined)
    },
  }
}

export interface Load {
  readonly path: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  readonly requests: number
  readonly concurrency: number
  /** What the first token says; without it the first byte counts. */
  readonly mark?: string
}

export interface Measured {
  /** Microseconds of the server's CPU a request. */
  readonly cpu: number
  readonly p50: number
  readonly p99: number
  /** Ms to the first token, median. */
  readonly first: number
  readonly failed: number
}

/** Sends the load and waits for every answer, read whole. */
export const measure = async (subject: Subject, load: Load): Promise<Measured> => {
  const dispatcher = new Agent({ connections: load.concurrency, pipelining: 1 })
  const whole: number[] = []
  const first: number[] = []
  let failed = 0
  let left = load.requests
  const before = await subject.cpu()
  const worker = async () => {
    while (left-- > 0) {
      const began = performance.now()
      const { statusCode, body } = await request(subject.base + load.path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...load.headers },
        body: load.body,
        dispatcher,
      })
      let seen = 0
      let waits = true
      for await (const part of body as AsyncIterable<Buffer>) {
        seen += part.length
        if (!waits || (load.mark !== undefined && !part.includes(load.mark))) continue
        first.push(performance.now() - began)
        waits = false
      }
      whole.push(performance.now() - began)
      if (statusCode !== 200 || seen === 0) failed++
    }
  }
  await Promise.all(Array.from({ length: load.concurrency }, worker))
  const cpu = (await subject.cpu()) - before
  await dispatcher.close()
  const at = (list: number[], share: number) => list.sort((a, b) => a - b)[Math.floor((list.length - 1) * share)] ?? 0
  return { cpu: cpu / load.requests, p50: at(whole, 0.5), p99: at(whole, 0.99), first: at(first, 0.5), failed }
}
