import { connect, type Socket } from 'node:net'
import { OpenAI } from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import type { Test } from 'tap'
import { until } from '../until.ts'

interface At {
  readonly base: string
  readonly key: string
}

/** The unmodified class of the SDK, with all that it told. */
export const connected = (t: Test, { base, key }: At) => {
  const socket = new ResponsesWS(new OpenAI({ baseURL: `${base}/v1`, apiKey: key }))
  t.teardown(() => socket.close({ code: 1000, reason: 'OK' }))
  const told: any[] = []
  let closed: readonly [code: number, reason: string] | null = null
  socket.on('error', (error) => void (error.error === undefined ? told.push({ type: 'failed', error }) : null))
  socket.on('event', (event) => void told.push(event))
  socket.on('close', (code, reason) => void (closed = [code, String(reason)]))
  const isEnd = ({ type }: any) => /^(?:response\.(?:completed|incomplete|failed)|error|failed)$/.test(type)
  return {
    socket,
    told,
    closed: () => closed,
    /** The events of one turn. */
    async turn(request: object): Promise<any[]> {
      const from = told.length
      socket.send({ type: 'response.create', ...request } as never)
      await until(() => told.slice(from).some(isEnd))
      return told.slice(from)
    },
  }
}

/** A peer that speaks the wire itself, so that it can do what no library does. */
export const rawPeer = (
  t: { teardown(ends: () => void): unknown },
  { base, key }: At,
  headers: readonly string[] = [],
) => {
  const { hostname, port, host } = new URL(base)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  const asked = [
    ...['GET /v1/responses HTTP/1.1', `Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket'],
    ...['Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`],
    ...(key === '' ? [] : [`Authorization: Bearer ${key}`]),
    ...headers,
  ]
  socket.write([...asked, '', ''].join('\r\n'))
  const parts: Buffer[] = []
  let isClosed = false
  socket.on('data', (part) => void parts.push(part))
  socket.on('error', () => (isClosed = true))
  socket.on('close', () => (isClosed = true))
  const all = () => Buffer.concat(parts)
  return {
    socket,
    all,
    isClosed: () => isClosed,
    status: async () => {
      await until(() => all().includes('\r\n\r\n') || isClosed)
      return Number(all().subarray(9, 12).toString())
    },
    /** The code of the last frame, where that one closes. */
    closeCode: () => closeCodeIn(all()),
    send: (opcode: number, payload: string | Uint8Array, isLast = true) => sendFrame(socket, opcode, payload, isLast),
  }
}

export type RawPeer = ReturnType<typeof rawPeer>

export const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** A frame with a mask of zeros, as a client has to mask. */
const sendFrame = (socket: Socket, opcode: number, payload: string | Uint8Array, isLast: boolean): boolean => {
  const body = Buffer.from(payload)
  const head = Buffer.alloc(body.length < 126 ? 2 : body.length < 65_536 ? 4 : 10)
  head[0] = (isLast ? 0x80 : 0) | opcode
  head[1] = 0x80 | (head.length === 2 ? body.length : head.length === 4 ? 126 : 127)
  if (head.length === 4) head.writeUInt16BE(body.length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(body.length), 2)
  return socket.write(Buffer.concat([head, Buffer.alloc(4), body]))
}

/** Walks over the frames behind the head of the answer. */
const closeCodeIn = (bytes: Buffer): number | null => {
  let at = bytes.indexOf('\r\n\r\n') + 4
  while (at + 2 <= bytes.length) {
    const opcode = bytes[at]! & 0x0f
    const short = bytes[at + 1]! & 0x7f
    const head = short < 126 ? 2 : short === 126 ? 4 : 10
    if (at + head > bytes.length) return null
    const length = head === 2 ? short : head === 4 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2))
    if (opcode === opcodes.close) return at + 4 <= bytes.length ? bytes.readUInt16BE(at + 2) : null
    at += head + length
  }
  return null
}
