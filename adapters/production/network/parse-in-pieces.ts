import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { plugin } from '../../../core/plugin.ts'
import { Started } from '../../../core/ports/started.ts'

/** Bytes of a piece that is parsed at once: at most 170 chunks. */
const pieceBytes = 1024
/** Chunks of a connection that are parsed in one turn of the loop, and chunks in one turn that are an attack. */
const [turnChunks, attackChunks] = [128, 1_000]
/** Ms after the last attack in which every connection is parsed in pieces. */
const alertMs = 60_000

/** What a connection has Node parse. */
interface Parsing {
  /** Node's own listener of the bytes that come. */
  readonly parse: (part: Buffer) => void
  /** Chunks of bodies since the turn or the piece began. */
  chunks: number
}

/**
 * Node parses up to 64 KiB of a connection in one go, which takes tens of ms where each chunk has one byte. From the first
 * body that comes so, every connection is parsed in pieces: one turn of the loop parses one piece of chunks of them all.
 * Pieces cost each request some µs, so they end a minute after the last attack.
 */
export const parseInPieces = (server: Server): void => {
  const open = new Map<Socket, Parsing>()
  let alert: NodeJS.Timeout | null = null

  const raise = (): void => {
    if (alert !== null) return void alert.refresh()
    alert = setTimeout(() => (alert = null), alertMs).unref()
    for (const [socket, parsing] of open) inPieces(socket, parsing, raise)
  }
  const countChunks = (request: IncomingMessage): void => {
    const parsing = open.get(request.socket)
    if (parsing === undefined || request.headers['transfer-encoding'] === undefined) return
    const push = request.push.bind(request)
    request.push = (chunk) => {
      if (parsing.chunks++ === 0) setImmediate(() => (parsing.chunks = 0))
      if (parsing.chunks === attackChunks) raise()
      return push(chunk)
    }
  }
  server.on('connection', (socket) => {
    const [parse] = socket.listeners('data') as Parsing['parse'][]
    if (parse === undefined) return
    const parsing = { parse, chunks: 0 }
    open.set(socket, parsing)
    socket.once('close', () => open.delete(socket))
    if (alert !== null) inPieces(socket, parsing, raise)
  })
  server.on('request', countChunks).on('checkContinue', countChunks)
}

/**
 * What does not fit into a piece goes back to the socket, which stands still until the next piece has its turn. Others may
 * hold the socket meanwhile, or want it to go on.
 */
const inPieces = (socket: Socket, parsing: Parsing, seen: () => void): void => {
  const { parse } = parsing
  const isParsed = (): boolean => socket.listeners('data').includes(parse)
  // The connection speaks no HTTP any more, or what comes is thrown away.
  if (!isParsed()) return
  const [pause, resume] = [socket.pause.bind(socket), socket.resume.bind(socket)]
  let [isWaiting, isHeld] = [false, false]
  socket.pause = () => {
    isHeld = true
    return pause()
  }
  socket.resume = () => {
    isHeld = false
    return isWaiting ? socket : resume()
  }
  const goOn = (): void => {
    isWaiting = false
    if (!isHeld && socket.listenerCount('data') > 0) resume()
  }
  const take = (part: Buffer): void => {
    const rest = part.subarray(pieceBytes)
    if (rest.length > 0) {
      isWaiting = true
      pause()
      socket.unshift(rest)
    }
    parse.call(socket, part.subarray(0, pieceBytes))
    if (!isWaiting) return
    if (parsing.chunks < turnChunks || !isParsed()) return goOn()
    parsing.chunks = 0
    seen()
    void freeTurn().then(goOn)
  }
  // Node takes its own listener away when the connection leaves HTTP, and this one with it.
  socket.removeListener('data', parse).on('data', Object.assign(take, { listener: parse }))
}

export const parsing = plugin({ port: Started, name: 'parsing', create: (): Started => ({ served: parseInPieces }) })
