import type { RequestListener, ServerResponse } from 'node:http'
import type { DialectEvent } from '../../../../core/dialects/event.ts'
import type { Seal } from '../../../../core/dialects/keepsake.ts'
import { type Passage, passageOf } from '../../../../core/inference/guards/passage.ts'
import type { Guard } from '../../../../core/ports/guard.ts'
import type { ChatParams, Options } from '../../../../core/sealed/client/chat.ts'
import type { Client } from '../../../../core/sealed/client/client.ts'
import type { EmbeddingParams } from '../../../../core/sealed/client/embeddings.ts'
import type { Chunk } from '../../../../core/ports/upstream.ts'
import { audioRoutes } from './audio.ts'
import type { Admission } from './admission.ts'
import { type ProxyCall, type ProxyRoute, addressOf, asksWebSocket, jsonBody, sendJson } from './proxy-call.ts'
import { ProxyRefusal, type ErrorDialect, dialectError } from './errors.ts'
import { modelRoutes } from './models.ts'
import { type Queue, whileBusy } from './queue.ts'
import { relayStream } from './relay.ts'
import {
  type DialectChat,
  chatTalk,
  countContents,
  countMessages,
  googleTalk,
  messagesTalk,
  responsesTalk,
} from './dialect-chats.ts'

/** What all routes of the proxy share. */
export interface ProxyOptions {
  readonly client: Client
  readonly admit: Admission
  /** The queue of sealed streams: a key may have few at once. */
  readonly queue: Queue
  /** Seals the reasoning that programs keep between turns. */
  readonly seal: Seal
  /** Guards see each request before it is sealed, and each answer after it is opened. */
  readonly guards: readonly Guard[]
  /** Ms of silence before a sign of life; 15 seconds when absent. */
  readonly beat?: number | undefined
}

/** Routes of all dialects: in the clear on this machine, sealed on the way to the gateway. */
export const proxyRoutes = (it: ProxyOptions): RequestListener => {
  const doors = [...talkDoors(it), embed(it), ...modelRoutes(it.client), ...audioRoutes(it.client), ...closed, greet]

  return async (request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort(new Error('The caller left')))
    const { pathname, searchParams: query } = addressOf(request)
    const fitting = doors.filter(({ path }) => path.test(pathname))
    const door = fitting.find(({ method }) => method === request.method)
    try {
      if (await it.admit(request, response)) return
      if (door === undefined && fitting.length > 0 && asksWebSocket(request)) {
        response.setHeader('upgrade', 'HTTP/1.1').setHeader('connection', 'upgrade, close')
        throw new ProxyRefusal(426, 'This path is no WebSocket; use HTTP')
      }
      if (door === undefined) throw new ProxyRefusal(404, 'Not found')
      const params = door.path.exec(pathname)!.slice(1)
      await door.serve({ request, response, signal: gone.signal, params, query })
    } catch (error) {
      if (response.destroyed) return
      if (response.headersSent) return void response.end()
      const { status, headers, body } = dialectError(error, door?.tongue ?? fitting[0]?.tongue)
      sendJson(response, status, body, headers)
    }
  }
}

/** Answers a chat whole, or as events after its turn in the queue. */
const talking = async (it: ProxyOptions, { response, signal }: ProxyCall, talk: DialectChat): Promise<void> => {
  const { client, queue, beat } = it
  const { create } = client.chat.completions
  const passage = passageFor(it, talk)
  const params = await paramsOf(talk, passage, signal)
  let headers = { ...droppedIn(talk), ...marksIn(passage) }
  const options: Options = {
    signal,
    answered: (id) => (headers = { ...headers, ...(id !== null && { 'x-request-id': id, 'request-id': id }) }),
  }
  if (!talk.stream) {
    const completion = await whileBusy(() => create({ ...params, stream: false }, options), signal)
    const answer = passage === null ? completion : (await passage.answer({ kind: 'completion', completion })).completion
    return sendJson(response, 200, talk.whole(answer), { ...headers, ...marksIn(passage) })
  }
  let leave = () => {}
  const chunks = async (): Promise<AsyncIterable<Chunk>> => {
    leave = await queue.enter(signal)
    const sealed = await whileBusy(() => create({ ...params, stream: true }, options), signal)
    return passage === null ? sealed : passage.chunks(sealed)
  }
  const { writer, broken } = talk
  await relayStream(response, chunks, { writer, broken, headers: () => headers, beat }).finally(() => leave())
}

/** Null without guards: a chat then passes as it is. This machine has no organisations. */
const passageFor = ({ guards }: ProxyOptions, { model }: DialectChat): Passage | null =>
  passageOf(guards, { model, organization: null })

const paramsOf = async (
  { body, model }: DialectChat,
  passage: Passage | null,
  signal: AbortSignal,
): Promise<ChatParams> => ({ ...(passage === null ? body : await passage.request(body, signal)), model }) as ChatParams

/** Names of guards that changed or marked the chat; no header without any. */
const marksIn = (passage: Passage | null): Readonly<Record<string, string>> => {
  const marks = passage?.marks() ?? []
  return marks.length === 0 ? {} : { 'x-sealgate-guards': marks.join(', ') }
}

const droppedIn = ({ dropped }: DialectChat): Readonly<Record<string, string>> =>
  dropped.length > 0 ? { 'x-sealgate-dropped': dropped.join(', ') } : {}

/** Dialects report the usage of the whole stream, so the request asks for it. */
const counted = (talk: DialectChat): DialectChat =>
  talk.stream ? { ...talk, body: { ...talk.body, stream_options: { include_usage: true } } } : talk

/** Routes of chats in all dialects, under the paths that stock clients use. */
const talkDoors = (it: ProxyOptions): readonly ProxyRoute[] => {
  const { seal } = it
  const door = (path: RegExp, tongue: ErrorDialect, serve: ProxyRoute['serve']): ProxyRoute => ({
    method: 'POST',
    path,
    tongue,
    serve,
  })
  return [
    door(/^\/v1\/chat\/completions$/, 'openai', async (call) =>
      talking(it, call, chatTalk(await jsonBody(call.request))),
    ),
    door(/^\/v1\/responses$/, 'openai', async (call) =>
      talking(it, call, counted(responsesTalk(await jsonBody(call.request), seal))),
    ),
    door(/^\/v1\/messages$/, 'messages', async (call) =>
      talking(it, call, counted(messagesTalk(await jsonBody(call.request), seal, call.request.headers))),
    ),
    door(/^\/v1\/messages\/count_tokens$/, 'messages', async ({ request, response }) =>
      sendJson(
        response,
        200,
        { input_tokens: countMessages(await jsonBody(request), seal, request.headers) },
        estimated,
      ),
    ),
    door(/^\/v1beta\/models\/([^:]+):generateContent$/, 'google', async (call) =>
      talking(it, call, googleTalk(await jsonBody(call.request), seal, modelIn(call), false)),
    ),
    door(/^\/v1beta\/models\/([^:]+):streamGenerateContent$/, 'google', async (call) => {
      const talk = counted(googleTalk(await jsonBody(call.request), seal, modelIn(call), true))
      return call.query.get('alt') === 'sse' ? talking(it, call, talk) : listed(it, call, talk)
    }),
    door(/^\/v1beta\/models\/([^:]+):countTokens$/, 'google', async ({ request, response }) =>
      sendJson(response, 200, { totalTokens: countContents(await jsonBody(request), seal) }, estimated),
    ),
  ]
}

/** Vectors are made in the enclave. */
const embed = ({ client }: ProxyOptions): ProxyRoute => ({
  method: 'POST',
  path: /^\/v1\/embeddings$/,
  tongue: 'openai',
  async serve({ request, response, signal }) {
    let headers: Readonly<Record<string, string>> = {}
    const answered = (id: string | null) => void (headers = id === null ? {} : { 'x-request-id': id })
    const params = (await jsonBody(request)) as unknown as EmbeddingParams
    const made = await client.embeddings.create(params, { signal, answered })
    sendJson(response, 200, made, headers)
  },
})

/** Tokens are counted here without the model, so the answer says that they are an estimate. */
const estimated = { 'x-sealgate-estimated': 'true' }

const modelIn = ({ params }: ProxyCall): string => decodeURIComponent(params[0]!)

/** Without `alt=sse` Gemini's stream is a JSON array; the proxy sends the array at its end. */
const listed = async (it: ProxyOptions, { response, signal }: ProxyCall, talk: DialectChat): Promise<void> => {
  const passage = passageFor(it, talk)
  const params = { ...(await paramsOf(talk, passage, signal)), stream: true } as const
  const leave = await it.queue.enter(signal)
  const events: DialectEvent[] = []
  try {
    const sealed = await whileBusy(() => it.client.chat.completions.create(params, { signal }), signal)
    for await (const chunk of passage === null ? sealed : passage.chunks(sealed)) talk.writer.take(chunk, events)
    talk.writer.end(events)
  } finally {
    leave()
  }
  sendJson(
    response,
    200,
    events.map(({ data }) => JSON.parse(data) as unknown),
    { ...droppedIn(talk), ...marksIn(passage) },
  )
}

/** Routes that the gateway has in the clear alone. */
const closed: readonly ProxyRoute[] = ['images/generations', 'images/edits', 'audio/speech'].map((name) => ({
  method: 'POST',
  path: new RegExp(`^/v1/${name}$`),
  tongue: 'openai',
  async serve() {
    throw new ProxyRefusal(404, 'The gateway does not serve this route sealed, and nothing leaves here unsealed', null, 'not_sealed') // prettier-ignore
  },
}))

/** Some programs check the gateway before their first request. */
const greet: ProxyRoute = {
  method: 'HEAD',
  path: /^\/$/,
  tongue: 'openai',
  serve: async ({ response }: { readonly response: ServerResponse }) => void response.writeHead(200).end(),
}
