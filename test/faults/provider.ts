import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { play, respond, type Seen } from './plays.ts'

export interface FaultyProvider {
  readonly url: string
  /** By the text of the last user message. */
  seen(conversation: string): Seen
  close(): Promise<void>
}

/** Speaks the chat format over raw sockets; the model's name picks the fault. `pace` stretches or shrinks every wait. */
export const startProvider = async (pace = 1): Promise<FaultyProvider> => {
  const conversations = new Map<string, Seen>()
  const sockets = new Set<Socket>()
  const seen = (name: string): Seen => {
    let it = conversations.get(name)
    if (!it) conversations.set(name, (it = { calls: 0, at: [], open: 0, left: null, sent: 0, comments: 0 }))
    return it
  }

  const server: Server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true))
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    serve(socket, pace, seen).catch(() => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A port on which nobody listens. */
export const deadUrl = async (): Promise<string> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}/v1`
}

const serve = async (socket: Socket, pace: number, seen: (name: string) => Seen): Promise<void> => {
  let bytes = Buffer.alloc(0)
  let wake = () => {}
  socket.on('data', (part) => {
    bytes = Buffer.concat([bytes, part])
    wake()
  })
  while (!socket.destroyed) {
    const head = bytes.indexOf('\r\n\r\n')
    const length = head < 0 ? 0 : Number(/content-length: *(\d+)/i.exec(bytes.toString('latin1', 0, head))?.[1] ?? 0)
    if (head < 0 || bytes.length < head + 4 + length) {
      await new Promise<void>((resolve) => {
        wake = resolve
        socket.once('close', resolve)
      })
      continue
    }
    const line = bytes.toString('latin1', 0, bytes.indexOf('\r\n'))
    const body = length > 0 ? JSON.parse(bytes.toString('utf8', head + 4, head + 4 + length)) : null
    bytes = bytes.subarray(head + 4 + length)
    if (body === null || !line.includes('/chat/completions')) {
      respond(socket, 200, '{"object":"list","data":[]}')
      continue
    }
    const last = body.messages.at(-1)
    const prefix = last.role === 'assistant' ? String(last.content) : ''
    const asked = body.messages.findLast((message: { role: string }) => message.role === 'user').content
    const its = seen(typeof asked === 'string' ? asked : asked[0].text)
    its.at.push(Date.now())
    its.open++
    let done = false
    const closed = () => {
      its.open--
      if (!done) its.left = Date.now()
    }
    socket.once('close', closed)
    const includeUsage = body.stream_options?.include_usage === true
    await play(
      { socket, pace, its },
      { model: body.model, stream: body.stream === true, prefix, call: ++its.calls, includeUsage },
    )
    done = true
    if (!socket.destroyed) {
      socket.off('close', closed)
      its.open--
    }
  }
}
