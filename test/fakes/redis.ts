import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { comesUpIn, freePort } from './listening.ts'

/** A real Redis without persistence. All but `url` and `close` throw when the server is not ours. */
export interface RedisServer {
  readonly url: string
  /** Stays connected and says nothing more. */
  pause(): void
  resume(): void
  /** Killed, with everything it knew. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Stops only what was started here. */
  close(): Promise<void>
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.setTimeout(500, () => socket.destroy())
    socket.once('data', () => socket.destroy())
    socket.once('error', () => {})
    socket.once('close', () => resolve(socket.bytesRead > 0))
  })

const notOurs = (): never => {
  throw new Error('Not ours to steer')
}

/** The server that REDIS_URL names, unless one to `steer` is asked for; else one started here; null when there is no redis-server. */
export const startRedis = async ({ steer = false } = {}): Promise<RedisServer | null> => {
  const given = process.env.REDIS_URL
  if (given && !steer) {
    return { url: given, pause: notOurs, resume: notOurs, stop: notOurs, start: notOurs, close: async () => {} }
  }
  const port = await freePort()
  let child: ChildProcess | null = null
  let closed = false
  const kill = () => child?.kill('SIGKILL')
  process.once('exit', kill)

  const start = async () => {
    if (closed) throw new Error('Closed')
    const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    const started = spawn('redis-server', args, { stdio: 'ignore' })
    await once(started, 'spawn')
    child = started
    for (const until = performance.now() + comesUpIn; !(await answers(port));) {
      if (performance.now() > until || started.exitCode !== null) throw new Error('redis-server did not come up')
      await sleep(20)
    }
  }
  const stop = async () => {
    if (!child) return
    const stopped = child
    child = null
    const gone = once(stopped, 'exit')
    stopped.kill('SIGKILL')
    await gone
  }

  try {
    await start()
  } catch (fault) {
    process.off('exit', kill)
    await stop()
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw fault
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    stop,
    start,
    async close() {
      closed = true
      process.off('exit', kill)
      await stop()
    },
  }
}

/**
 * A wire to a server that can be cut without either end being told: what goes in meanwhile is lost, and old connections
 * stay so. Or it breaks with an answer on it, so that what was asked is done and nobody is told.
 */
export const wireTo = async (url: string) => {
  let whole = true
  let breaks: number[] = []
  const sockets = new Set<Socket>()
  const entry = createServer((near) => {
    let mine = whole
    const far = connect(Number(new URL(url).port), new URL(url).hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from.on('error', () => {}).on('close', () => to.destroy()))
      from.on('data', (bytes) => {
        if (from === far && breaks.length > 0 && breaks[0]!-- === 0) {
          breaks.shift()
          near.destroy()
        } else if ((mine &&= whole)) to.write(bytes)
      })
    }
  }).listen(0, '127.0.0.1')
  await once(entry, 'listening')
  return {
    url: `redis://127.0.0.1:${(entry.address() as AddressInfo).port}`,
    cut: () => void (whole = false),
    mend: () => void (whole = true),
    /** Breaks after so many answers, and again after so many more; whoever waits for one before asking on is sure of which. */
    breakAfter: (...answers: number[]) => void (breaks = answers),
    async close() {
      for (const socket of sockets) socket.destroy()
      entry.close()
      await once(entry, 'close')
    },
  }
}
