import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Client } from '../../../core/sealed/client/client.ts'
import type { ChatParams } from '../../../core/sealed/client/chat.ts'
import type { Chunk } from '../../../core/ports/upstream.ts'
import { drained } from '../network/on-drain.ts'
import { Refused, toldBy } from './seal-errors.ts'
import type { Admission } from './seal-admission.ts'
import { heard } from './seal-audio.ts'

const most = 32 * 1024 * 1024

/** The common chat format in the clear on this side, sealed on the other. */
export const standardRoutes = (client: Client, admit: Admission): RequestListener => {
  const routes: Readonly<Record<string, (call: Call) => Promise<void>>> = {
    'GET /v1/models': async ({ response }) => {
      const data = (await client.models.list()).map(({ model }) => ({
        id: model,
        object: 'model',
        created: 0,
        owned_by: 'sealgate',
      }))
      say(response, 200, { object: 'list', data })
    },
    async 'POST /v1/chat/completions'({ request, response, signal }) {
      const params = parsed(await whole(request)) as ChatParams
      const { create } = client.chat.completions
      if (params.stream !== true) return say(response, 200, await create({ ...params, stream: false }, { signal }))
      await relay(response, await create({ ...params, stream: true }, { signal }))
    },
    async 'POST /v1/audio/transcriptions'({ request, response, signal }) {
      const { type, body } = await heard(
        client.audio.transcriptions,
        request.headers['content-type'] ?? '',
        await whole(request),
        signal,
      )
      response.writeHead(200, { 'content-type': type }).end(body)
    },
  }

  return async (request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort(new Error('The caller left')))
    try {
      if (await admit(request, response)) return
      const path = (request.url ?? '/').replace(/\?.*$/, '')
      const route = routes[`${request.method} ${path}`]
      if (route === undefined) throw new Refused(404, 'Not found')
      await route({ request, response, signal: gone.signal })
    } catch (error) {
      if (response.destroyed) return
      if (response.headersSent) return void response.end()
      const { status, headers, body } = toldBy(error)
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    }
  }
}

interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly signal: AbortSignal
}

const whole = async (request: IncomingMessage): Promise<Buffer> => {
  let size = 0
  request.on('data', ({ length }: Buffer) => {
    size += length
    if (size > most) request.destroy(new Refused(413, 'The request is too large'))
  })
  if (Number(request.headers['content-length'] ?? 0) > most) throw new Refused(413, 'The request is too large')
  return buffer(request)
}

const parsed = (body: Buffer): unknown => {
  try {
    const value: unknown = JSON.parse(body.toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Said below: the error quotes the text.
  }
  throw new Refused(400, 'The body is not a JSON object')
}

const say = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** What fails before the first chunk is answered as any other; later it is the last event, and no end mark follows. */
const relay = async (response: ServerResponse, chunks: AsyncIterable<Chunk>): Promise<void> => {
  const write = async (data: string): Promise<void> => {
    if (!response.headersSent)
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    if (response.write(`data: ${data}\n\n`) || response.destroyed) return
    await drained(response)
  }
  try {
    for await (const chunk of chunks) await write(JSON.stringify(chunk))
    await write('[DONE]')
  } catch (error) {
    if (!response.headersSent) throw error
    await write(JSON.stringify(toldBy(error).body))
  }
  response.end()
}
