import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { print } from '../../../../core/dialects/json.ts'
import { UpstreamFailed } from '../../../../core/errors.ts'
import { fencesFor, freshUser } from '../../../shared/fences.ts'
import type { ServerSettings } from '../settings.ts'
import { type Line, type ServerMessage, SessionOver, answerTo, messageIn, mostMessage, resultIn } from './line.ts'

type Program = Pick<ServerSettings, 'args' | 'env' | 'network'> & { readonly command: string }

/** Kilobytes of writable memory, seconds of work, open files. */
const limits = 'ulimit -c 0; ulimit -d 1572864; ulimit -t 600; ulimit -n 128'

/** The program runs as a user of its own where the system allows that, and finds in its environment what the operator names. */
const started = async ({ command, args, env, network }: Program): Promise<ChildProcess> => {
  const fences = await fencesFor(tmpdir())
  const words = [...fences.words(freshUser(fences), network), command, ...args]
  return spawn('/bin/sh', ['-c', `${limits}; exec "$@"`, 'sh', ...words], {
    // What the program prints for people may quote arguments.
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], ...env },
    cwd: '/',
    detached: true,
  })
}

interface Waiting {
  resolve(message: ServerMessage): void
  reject(error: Error): void
}

/** The lines of a program, each up to a bound. */
async function* linesOf(output: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let size = 0
  for await (const part of output) {
    let at = 0
    for (let end = part.indexOf(10); end >= 0; end = part.indexOf(10, at)) {
      yield Buffer.concat([...parts, part.subarray(at, end)])
      parts = []
      size = 0
      at = end + 1
    }
    parts.push(part.subarray(at))
    size += part.length - at
    if (size > mostMessage) throw new UpstreamFailed('The answer is too large')
  }
}

/** Null for a line that a program prints for people, as many do: clients of the protocol pass over such lines. */
const messageOn = async (line: Buffer): Promise<ServerMessage | null> => {
  try {
    return await messageIn(line)
  } catch (error) {
    if (error instanceof UpstreamFailed) return null
    throw error
  }
}

/** Ends the program and the programs that it started. */
const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}

/** A server as a program of this machine: one message is one line. */
export const programLine = async (program: Program): Promise<Line> => {
  const child = await started(program)
  const waiting = new Map<number, Waiting>()
  let calls = 0
  let isOver = false

  const end = (error: Error): void => {
    isOver = true
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
    killGroup(child)
  }
  // A call under way may have had its effect, so nobody repeats the call.
  const gone = () => end(new UpstreamFailed('The tool’s server ends without an answer', { again: true }))
  child.on('error', gone)
  child.stdin?.on('error', gone)

  const send = (message: object): void => {
    if (isOver) throw new SessionOver()
    child.stdin?.write(`${print(message)}\n`)
  }
  const read = async (): Promise<void> => {
    for await (const line of linesOf(child.stdout!)) {
      const message = await messageOn(line)
      if (message === null) continue
      const reply = answerTo(message)
      if (reply !== null) send(reply)
      if (message.method !== undefined || typeof message.id !== 'number') continue
      waiting.get(message.id)?.resolve(message)
    }
  }
  read().then(gone, (error: unknown) => end(error as Error))

  return {
    async call(method, params, signal) {
      signal.throwIfAborted()
      const id = ++calls
      const leave = () => waiting.get(id)?.reject(signal.reason)
      signal.addEventListener('abort', leave, { once: true })
      try {
        send({ jsonrpc: '2.0', id, method, params })
        return resultIn(await new Promise<ServerMessage>((resolve, reject) => waiting.set(id, { resolve, reject })))
      } catch (error) {
        if (signal.aborted && !isOver && method !== 'initialize')
          send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
        throw error
      } finally {
        signal.removeEventListener('abort', leave)
        waiting.delete(id)
      }
    },
    notify: async (method, params) => send({ jsonrpc: '2.0', method, params }),
    agreed: () => {},
    isOwn: () => true,
    close: gone,
  }
}
