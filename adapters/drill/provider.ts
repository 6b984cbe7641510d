import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { type Ask, type Tempo, play } from './plays.ts'
import { type Seen, type Wording, chatWording, respond } from './written-answer.ts'

/** A backend on a free port of 127.0.0.1 that plays faults and notes what it saw. */
export interface FaultyProvider {
  readonly url: string
  /** By the text of the last user message. */
  seen(conversation: string): Seen
  /** Destroys the sockets that are still open: a silent scene would hold the server for ever. */
  close(): Promise<void>
}

const listening = (server: Server): Promise<string> =>
  new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)),
  )

/** Speaks its dialects over raw sockets; the model's name picks the fault. */
export const startProvider = async (
  tempo: Tempo,
  wordings: readonly Wording[] = [chatWording],
): Promise<FaultyProvider> => {
  const conversations = new Map<string, Seen>()
  const sockets = new Set<Socket>()
  const seen = (name: string): Seen => {
    const seen = conversations.get(name) ?? { calls: 0, at: [], open: 0, left: null, sent: 0, comments: 0 }
    conversations.set(name, seen)
    return seen
  }
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true))
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    serve(socket, tempo, wordings, seen).catch(() => socket.destroy())
  })
  return {
    url: await listening(server),
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
  const url = await listening(server)
  await new Promise((resolve) => server.close(resolve))
  return url
}

/** The body of a request, as far as every dialect has it. */
interface Body {
  readonly model: string
  readonly stream?: boolean
}

/** A whole request; `rest` is what came behind it. */
interface Asked {
  readonly line: string
  readonly body: Body | null
  readonly rest: Buffer
}

/** Null while the request is not whole. */
const askedIn = (bytes: Buffer): Asked | null => {
  const head = bytes.indexOf('\r\n\r\n')
  if (head < 0) return null
  const length = Number(/content-length: *(\d+)/i.exec(bytes.toString('latin1', 0, head))?.[1] ?? 0)
  const end = head + 4 + length
  if (bytes.length < end) return null
  const body = length > 0 ? (JSON.parse(bytes.toString('utf8', head + 4, end)) as Body) : null
  return { line: bytes.toString('latin1', 0, bytes.indexOf('\r\n')), body, rest: bytes.subarray(end) }
}

/** Answers one request after the other on a socket, as keep-alive allows. */
const serve = async (
  socket: Socket,
  tempo: Tempo,
  wordings: readonly Wording[],
  seen: (name: string) => Seen,
): Promise<void> => {
  let bytes: Buffer = Buffer.alloc(0)
  let wake = (): void => {}
  socket.on('data', (part) => {
    bytes = Buffer.concat([bytes, part])
    wake()
  })
  socket.once('close', () => wake())
  while (!socket.destroyed) {
    const question = askedIn(bytes)
    if (question === null) {
      await new Promise<void>((resolve) => (wake = resolve))
      continue
    }
    const { line, body, rest } = question
    bytes = rest
    const wording = wordings.find(({ path }) => line.includes(path))
    if (body === null || wording === undefined) {
      respond(socket, 200, '{"object":"list","data":[]}')
      continue
    }
    // Each scene puts a text of its own into the last user message, so that its calls are counted together.
    const { conversation, ...asking } = wording.asking(body as never)
    const { model, stream } = body
    const ask = { wording, model, stream: stream === true, ...asking }
    await playedTo(socket, tempo, ask, noted(line, seen(conversation)))
  }
}

const noted = (line: string, seen: Seen): Seen => {
  seen.at.push({ ms: Date.now(), path: line.split(' ')[1] ?? '' })
  return seen
}

/** Notes how long the other side stayed. */
const playedTo = async (socket: Socket, tempo: Tempo, ask: Omit<Ask, 'call'>, seen: Seen): Promise<void> => {
  seen.open++
  let done = false
  const closed = (): void => {
    seen.open--
    if (!done) seen.left = Date.now()
  }
  socket.once('close', closed)
  await play({ socket, seen }, tempo, { ...ask, call: ++seen.calls })
  done = true
  if (socket.destroyed) return
  socket.off('close', closed)
  seen.open--
}
