import { type IncomingMessage, type ServerResponse, createServer, request } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ReadableStream } from 'node:stream/web'
import type { Test } from 'tap'
import { opensHttp } from './listening.ts'

/** What a tool sees of its call. */
interface Seen {
  readonly session: string | undefined
  readonly signal: AbortSignal
  /** Ends the stream of the call, which goes on at the next request of the client. */
  closeStream(): void
}

/** A tool of a played server. */
export interface PlayedTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: object
  run?(args: any, seen: Seen): unknown
}

export interface PlayedServer {
  readonly url: string
  /** The bodies that came, with their methods and headers. */
  readonly seen: { readonly method: string; readonly headers: IncomingMessage['headers']; readonly body: string }[]
  /** The sessions that are open. */
  readonly sessions: Map<string, unknown>
  /** Breaks all connections. */
  cut(): void
}

// The package is one of those that tests alone install, so its types are not looked at.
const sdk: any = await import('@modelcontextprotocol/server' as string)

const anything = { type: 'object', properties: {} }

const serverOf = (tools: () => readonly PlayedTool[]) => {
  const server = new sdk.Server({ name: 'played', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', async () => ({
    tools: tools().map(({ run: _, ...tool }) => ({ inputSchema: anything, ...tool })),
  }))
  server.setRequestHandler('tools/call', async ({ params }: any, context: any) => {
    const tool = tools().find(({ name }) => name === params.name)
    if (tool?.run === undefined) throw new sdk.ProtocolError(-32602, `There is no ${params.name} here`)
    const closeStream = () => context.http?.closeSSE()
    const seen = { session: context.sessionId, signal: context.mcpReq.signal, closeStream }
    const result = await tool.run(params.arguments, seen)
    return typeof result === 'string' ? { content: [{ type: 'text', text: result }] } : result
  })
  return server
}

/** What answers a request of the web's own form. */
type Answering = (request: Request, body: string) => Promise<Response>

/** How a server refuses a session that it does not know. */
const refusals = {
  protocol: () => new Response('No such session', { status: 404 }),
  /** As in the examples of the official SDK. */
  example() {
    const error = { code: -32000, message: 'Bad Request: No valid session ID provided' }
    return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 400 })
  },
}

/** Keeps the events of all streams in their order. */
const eventStore = () => {
  const events: { readonly stream: string; readonly message: object }[] = []
  return {
    storeEvent: async (stream: string, message: object) => `event-${events.push({ stream, message })}`,
    getStreamIdForEventId: async (id: string) => events[Number(id.slice(6)) - 1]?.stream,
    async replayEventsAfter(id: string, { send }: { send(id: string, message: object): Promise<void> }) {
      const from = Number(id.slice(6))
      const { stream } = events[from - 1]!
      for (const [at, event] of events.entries())
        if (at >= from && event.stream === stream) await send(`event-${at + 1}`, event.message)
      return stream
    },
  }
}

/** A server that keeps a session for each client. */
const withSessions =
  (
    tools: () => readonly PlayedTool[],
    sessions: Map<string, any>,
    refusal: () => Response,
    resumes: boolean,
  ): Answering =>
  async (request, body) => {
    const name = request.headers.get('mcp-session-id')
    const known = name === null ? undefined : sessions.get(name)
    if (known !== undefined) return known.handleRequest(request)
    if (name !== null || !body.includes('"initialize"')) return refusal()
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => `session-${crypto.randomUUID()}`,
      ...(resumes && { eventStore: eventStore(), retryInterval: 200 }),
      onsessioninitialized: (id: string) => void sessions.set(id, transport),
      onsessionclosed: (id: string) => void sessions.delete(id),
    })
    await serverOf(tools).connect(transport)
    return transport.handleRequest(request)
  }

const give = async (answer: Response, out: ServerResponse): Promise<void> => {
  out.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (answer.body === null) return void out.end()
  const body = Readable.fromWeb(answer.body as ReadableStream).on('error', () => out.destroy())
  out.on('close', () => body.destroy())
  body.pipe(out)
}

/** A server of the official SDK on a free port, by streamable HTTP; with sessions, without any state, or in the latest revision alone. */
export const mcpServer = async (
  t: Test,
  tools: readonly PlayedTool[] | (() => readonly PlayedTool[]),
  { stateless = false, latest = false, refuses = 'protocol' as keyof typeof refusals, resumes = false } = {},
): Promise<PlayedServer> => {
  const current = typeof tools === 'function' ? tools : () => tools
  const sessions = new Map<string, unknown>()
  const handler = sdk.createMcpHandler(() => serverOf(current), { legacy: latest ? 'reject' : 'stateless' })
  const answering: Answering =
    stateless || latest
      ? (request) => handler.fetch(request)
      : withSessions(current, sessions, refusals[refuses], resumes)
  const seen: PlayedServer['seen'] = []
  const server = createServer((incoming, out) => {
    const work = async () => {
      const body = (await buffer(incoming)).toString()
      const { method = '', headers } = incoming
      seen.push({ method, headers, body })
      const given = { method, headers: headers as Record<string, string>, ...(body !== '' && { body }) }
      await give(await answering(new Request(`http://${headers.host}/mcp`, given), body), out)
    }
    work().catch(() => out.destroy())
  })
  return { url: await served(t, server), seen, sessions, cut: () => server.closeAllConnections() }
}

const served = async (t: Test, server: ReturnType<typeof createServer>): Promise<string> =>
  `${await opensHttp(t, server)}/mcp`

/** One address, behind which another server may stand at each request. */
export const replacedServer = async (t: Test, current: () => PlayedServer): Promise<string> =>
  served(
    t,
    createServer((incoming, out) => {
      const { host: _, ...headers } = incoming.headers
      const passed = request(current().url, { method: incoming.method, headers }, (answer) => {
        out.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(out)
      })
      incoming.pipe(passed.on('error', () => out.destroy()))
    }),
  )

/** A server that speaks HTTP and does not keep to the protocol. */
export const oddServer = async (t: Test, answer: (message: any, out: ServerResponse) => unknown): Promise<string> =>
  served(
    t,
    createServer((incoming, out) => {
      buffer(incoming)
        .then((body) => answer(body.length === 0 ? null : JSON.parse(body.toString()), out))
        .catch(() => out.destroy())
    }),
  )
