import { type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'node:http'
import { type Envelope, keyAt, sealedFor } from '../lab/hunt/sealing.ts'
import { type Got, send } from '../lab/hunt/send.ts'

const json = 'application/json'

/** Where somebody calls, and with which key. */
export interface Door {
  readonly base: string
  readonly key: string
}

/** Sends JSON, or what else is said, on a connection of its own. */
export const post = async ({ base, key }: Door, path: string, body: Buffer, type = json): Promise<Got> => {
  const agent = new Agent()
  const headers = { authorization: `Bearer ${key}`, 'content-type': type }
  try {
    return await send(agent, base + path, { method: 'POST', headers, body })
  } finally {
    agent.destroy()
  }
}

/** The type of a body, and what comes in one chunk before the tiny ones. */
export interface Beginning {
  readonly type: string
  readonly head: string
}

/** Sends a body in chunks of one byte until it is refused or there were so many; gives back the bytes that were sent. */
export const inTinyChunks = async (
  door: Door,
  path: string,
  chunks: number,
  { type, head }: Beginning = { type: json, head: ' ' },
): Promise<number> => {
  const socket = await connected(door)
  let answered = false
  socket.once('data', () => (answered = true)).once('close', () => (answered = true))
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${door.key}\r\n` +
      `content-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n${head.length.toString(16)}\r\n${head}\r\n`,
  )
  const many = Buffer.from('1\r\n \r\n'.repeat(5_000))
  let sent = 0
  for (; sent < chunks * 6 && !answered && !socket.destroyed; sent += many.length) {
    if (socket.write(many)) continue
    await new Promise<unknown>((resolve) => socket.once('drain', resolve).once('close', resolve))
  }
  // An attacker that leaves at once fills the queue of new connections, which is another attack.
  if (!answered) await new Promise<unknown>((resolve) => socket.once('data', resolve).once('close', resolve))
  socket.destroy()
  return sent
}

/** The same, sealed; how many bytes went over the wire is told with the answer. */
export const postSealed = async (door: Door, path: string, plain: Buffer, envelope: Envelope): Promise<number> => {
  const { body } = sealedFor(await keyAt(door.base, door.key), plain, envelope)
  await post(door, path, body)
  return body.length
}

/** An open connection to the gateway that takes whatever comes back. */
export const connected = async ({ base }: Pick<Door, 'base'>, localAddress?: string): Promise<Socket> => {
  const { hostname, port } = new URL(base)
  const socket = connect({ host: hostname, port: Number(port), ...(localAddress && { localAddress }) })
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
  return socket
}

/** Writes so many bytes of one request again and again on each of several connections, and reads nothing for `ms`. */
export const pipelined = async (
  door: Door,
  line: string,
  bytes: number,
  connections: number,
  ms: number,
): Promise<void> => {
  const one = `${line} HTTP/1.1\r\nhost: a\r\n\r\n`
  const all = Buffer.alloc(one.length * Math.floor(bytes / one.length), one)
  const sockets = await Promise.all(Array.from({ length: connections }, () => connected(door)))
  for (const socket of sockets) socket.pause().write(all)
  await sleep(ms)
  for (const socket of sockets) socket.destroy()
}

/** Begins bodies and never ends them; gives back their connections. */
export const unfinished = async (
  door: Door,
  path: string,
  bytes: number,
  count: number,
): Promise<readonly Socket[]> => {
  const head =
    `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${door.key}\r\n` +
    `content-type: ${json}\r\ncontent-length: ${bytes + 1024}\r\n\r\n`
  const body = Buffer.alloc(bytes, ' ')
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = await connected(door)
      socket.resume().write(head)
      socket.write(body)
      return socket
    }),
  )
}

/** How many of them the other side has not closed within so many ms. */
export const leftOpen = async (sockets: readonly Socket[], ms: number): Promise<number> => {
  const open = () => sockets.filter(({ closed }) => !closed).length
  for (const end = performance.now() + ms; open() > 0 && performance.now() < end;) await sleep(50)
  return open()
}
