import type { RequestListener, ServerResponse } from 'node:http'
import type { DialectEvent } from '../../../../core/dialects/event.ts'
import type { Seal } from '../../../../core/dialects/keepsake.ts'
import type { ChatParams, Options } from '../../../../core/sealed/client/chat.ts'
import type { Client } from '../../../../core/sealed/client/client.ts'
import type { Chunk } from '../../../../core/ports/upstream.ts'
import { audioDoors } from './audio.ts'
import type { Admission } from './admission.ts'
import { type Call, type Door, asksWebSocket, objectIn, say } from './call.ts'
import { Refused, type Tongue, toldBy } from './errors.ts'
import { modelDoors } from './models.ts'
import { type Queue, whileBusy } from './queue.ts'
import { relay } from './relay.ts'
import { type Talk, chatTalk, countContents, countMessages, googleTalk, messagesTalk, responsesTalk } from './talks.ts'

export interface Proxied {
  readonly client: Client
  readonly admit: Admission
  /** For sealed streams, of which a key may have few. */
  readonly queue: Queue
  /** Seals what programs keep between turns. */
  readonly seal: Seal
}

/** The doors of all dialects in the clear on this side, sealed on the other. */
export const standardRoutes = (it: Proxied): RequestListener => {
  const doors = [...talkDoors(it), ...modelDoors(it.client), ...audioDoors(it.client), ...closed, greet]

  return async (request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort(new Error('The caller left')))
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost')
    const fitting = doors.filter(({ path }) => path.test(pathname))
    const door = fitting.find(({ method }) => method === request.method)
    try {
      if (await it.admit(request, response)) return
      if (door === undefined && fitting.length > 0 && asksWebSocket(request)) {
        response.setHeader('upgrade', 'HTTP/1.1').setHeader('connection', 'upgrade, close')
        throw new Refused(426, 'This path is no WebSocket; use HTTP')
      }
      if (door === undefined) throw new Refused(404, 'Not found')
      const params = door.path.exec(pathname)!.slice(1)
      await door.serve({ request, response, signal: gone.signal, params, query })
    } catch (error) {
      if (response.destroyed) return
      if (response.headersSent) return void response.end()
      const { status, headers, body } = toldBy(error, door?.tongue ?? fitting[0]?.tongue)
      say(response, status, body, headers)
    }
  }
}

/** A chat whole, or as events when its turn has come. */
const talking = async ({ client, queue }: Proxied, { response, signal }: Call, talk: Talk): Promise<void> => {
  const { create } = client.chat.completions
  let headers = droppedIn(talk)
  const options: Options = {
    signal,
    answered: (id) => (headers = { ...headers, ...(id !== null && { 'x-request-id': id, 'request-id': id }) }),
  }
  const params = { ...talk.body, model: talk.model } as ChatParams
  if (!talk.stream) {
    const completion = await whileBusy(() => create({ ...params, stream: false }, options), signal)
    return say(response, 200, talk.whole(completion), headers)
  }
  let leave = () => {}
  const chunks = async (): Promise<AsyncIterable<Chunk>> => {
    leave = await queue.enter(signal)
    return whileBusy(() => create({ ...params, stream: true }, options), signal)
  }
  const { writer, broken } = talk
  await relay(response, chunks, { writer, broken, headers: () => headers }).finally(() => leave())
}

const droppedIn = ({ dropped }: Talk): Readonly<Record<string, string>> =>
  dropped.length > 0 ? { 'x-sealgate-dropped': dropped.join(', ') } : {}

/** Translators count on the usage of the whole stream. */
const counted = (talk: Talk): Talk =>
  talk.stream ? { ...talk, body: { ...talk.body, stream_options: { include_usage: true } } } : talk

const talkDoors = (it: Proxied): readonly Door[] => {
  const { seal } = it
  const door = (path: RegExp, tongue: Tongue, serve: Door['serve']): Door => ({ method: 'POST', path, tongue, serve })
  return [
    door(/^\/v1\/chat\/completions$/, 'openai', async (call) =>
      talking(it, call, chatTalk(await objectIn(call.request))),
    ),
    door(/^\/v1\/responses$/, 'openai', async (call) =>
      talking(it, call, counted(responsesTalk(await objectIn(call.request), seal))),
    ),
    door(/^\/v1\/messages$/, 'messages', async (call) =>
      talking(it, call, counted(messagesTalk(await objectIn(call.request), seal, call.request.headers))),
    ),
    door(/^\/v1\/messages\/count_tokens$/, 'messages', async ({ request, response }) =>
      say(response, 200, { input_tokens: countMessages(await objectIn(request), seal, request.headers) }, estimated),
    ),
    door(/^\/v1beta\/models\/([^:]+):generateContent$/, 'google', async (call) =>
      talking(it, call, googleTalk(await objectIn(call.request), seal, modelIn(call), false)),
    ),
    door(/^\/v1beta\/models\/([^:]+):streamGenerateContent$/, 'google', async (call) => {
      const talk = counted(googleTalk(await objectIn(call.request), seal, modelIn(call), true))
      return call.query.get('alt') === 'sse' ? talking(it, call, talk) : listed(it, call, talk)
    }),
    door(/^\/v1beta\/models\/([^:]+):countTokens$/, 'google', async ({ request, response }) =>
      say(response, 200, { totalTokens: countContents(await objectIn(request), seal) }, estimated),
    ),
  ]
}

const estimated = { 'x-sealgate-estimated': 'true' }

const modelIn = ({ params }: Call): string => decodeURIComponent(params[0]!)

/** Without `alt=sse` Gemini's stream is a JSON array, which is given at its end. */
const listed = async ({ client, queue }: Proxied, { response, signal }: Call, talk: Talk): Promise<void> => {
  const leave = await queue.enter(signal)
  const events: DialectEvent[] = []
  try {
    const params = { ...talk.body, model: talk.model, stream: true } as ChatParams & { readonly stream: true }
    for await (const chunk of await whileBusy(() => client.chat.completions.create(params, { signal }), signal))
      talk.writer.take(chunk, events)
    talk.writer.end(events)
  } finally {
    leave()
  }
  say(
    response,
    200,
    events.map(({ data }) => JSON.parse(data) as unknown),
    droppedIn(talk),
  )
}

/** Routes that the gateway has in the clear alone. */
const closed: readonly Door[] = ['embeddings', 'images/generations', 'images/edits', 'audio/speech'].map((name) => ({
  method: 'POST',
  path: new RegExp(`^/v1/${name}$`),
  tongue: 'openai',
  async serve() {
    throw new Refused(404, 'The gateway does not serve this route sealed, and nothing leaves here unsealed', null, 'not_sealed') // prettier-ignore
  },
}))

/** Some programs look for the gateway before they speak to it. */
const greet: Door = {
  method: 'HEAD',
  path: /^\/$/,
  tongue: 'openai',
  serve: async ({ response }: { readonly response: ServerResponse }) => void response.writeHead(200).end(),
}
