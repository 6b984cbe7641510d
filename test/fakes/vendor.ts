import { readFile } from 'node:fs/promises'
import type OpenAI from 'openai'
import type { Test } from 'tap'
import { collectChunks } from '../../core/inference/collect-chunks.ts'
import type { ChatAnswer, ChatCall, Completion, Model, Upstream } from '../../core/ports/upstream.ts'
import type { Asked, Recorded } from './recorded.ts'
import { failed } from '../helpers.ts'
import { backend, type Lasting, provided, type Recording, vector } from '../contracts/stage.ts'

/** The signal of calls that nobody stops. */
export const never = new AbortController().signal
export const json = { 'content-type': 'application/json' }
export const messages = [{ role: 'user' as const, content: 'Hi' }]

/** A scripted vendor that plays one recorded answer to everything, and the provider in front of it. */
export const scripted = async (
  t: Lasting,
  recording: Recording,
  file: string,
  answer: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
) => {
  const server = await backend(t, async () => ({
    headers: file.endsWith('.sse') ? { 'content-type': recording.stream.type } : json,
    ...answer,
    body: await vector(`${recording.vectors as string}/${file}`),
  }))
  const upstream = await provided(t, recording.provider, recording.settings(server.url))
  return { upstream, asked: server.asked }
}

/** The request that a call with these fields becomes. */
export const wording = async (t: Lasting, recording: Recording, call: Partial<ChatCall> = {}) => {
  const { upstream, asked: requests } = await scripted(t, recording, call.stream === true ? 'chat.sse' : 'chat.json')
  await completed(upstream, { model: recording.model, stream: false, body: { messages }, ...call })
  const { path, headers, body } = requests[0]!
  return { path, headers, body: JSON.parse(body.toString()) as Record<string, unknown> }
}

/** An answer in one piece, however it came. */
export const whole = (answer: ChatAnswer): Completion | Promise<Completion> =>
  answer.kind === 'completion' ? answer.completion : collectChunks(answer.chunks)

export const completed = async (upstream: Upstream, call: ChatCall): Promise<Completion> =>
  whole(await upstream.chat!(call, never))

/** What the provider throws when the vendor refuses with this. */
export const refusal = async (
  t: Lasting,
  recording: Recording,
  status: number,
  body: string,
  headers = {},
): Promise<unknown> => {
  const server = await backend(t, () => ({ status, headers: { ...json, ...headers }, body }))
  const upstream = await provided(t, recording.provider, recording.settings(server.url))
  return failed(completed(upstream, { model: recording.model, stream: false, body: { messages } }))
}

/** The models that the provider lists, and the request for them. */
export const listing = async (
  t: Lasting,
  recording: Recording,
): Promise<{ readonly models: readonly Model[]; readonly asked: Asked }> => {
  const { upstream, asked: requests } = await scripted(t, recording, 'models.json')
  return { models: await upstream.models(never), asked: requests[0]! }
}

/** What the models are that the provider lists, in their order. */
export const typesOf = (models: readonly Model[]): readonly (readonly [string, string])[] =>
  models.map(({ id, type }) => [id, type])

/** The numbers of two texts in most recordings of vectors. */
export const recordedVectors = [
  [0.25, -0.5, 0.125],
  [1, 2, -3],
]

/** The numbers of vectors in plain lists. */
export const numbersOf = (vectors: readonly Iterable<number>[]): readonly (readonly number[])[] =>
  vectors.map((one) => [...one])

/** What a request says, in JSON. */
export const bodyOf = ({ body }: Pick<Asked, 'body'>) => JSON.parse(body.toString())

/** A chat in the common format, and what the vendor's own client takes to ask the same. */
export interface Compared {
  readonly model: string
  readonly stream: boolean
  readonly ours: object
  readonly theirs: object
}

/** The table of such chats that stands beside the test of the provider. */
export const comparedOf = async (provider: string): Promise<readonly Compared[]> =>
  JSON.parse(await readFile(`test/plugins/providers/requests/${provider}.json`, 'utf8'))

/** The last two requests have the same place, the same body and the same values of these headers. */
export const compare = (
  t: Pick<Test, 'equal' | 'same'>,
  { asked: requests }: Recorded,
  headers: readonly string[] = ['authorization'],
): void => {
  const [one, other] = requests.splice(0) as [Asked, Asked]
  t.equal(`${one.method} ${one.path}`, `${other.method} ${other.path}`)
  for (const name of headers) t.equal(one.headers[name], other.headers[name], name)
  if (one.body.length > 0 || other.body.length > 0) t.same(bodyOf(one), bodyOf(other), one.path)
}

/** The recorded answer has its thoughts and this usage, whole and streamed. */
export const tellsThoughts = async (
  t: Lasting & Pick<Test, 'equal' | 'match'>,
  recording: Recording,
  usage: object,
) => {
  for (const file of ['chat.json', 'chat.sse']) {
    const { upstream } = await scripted(t, recording, file)
    const told = await completed(upstream, { model: 'm', stream: file.endsWith('sse'), body: { messages } })
    t.equal(told.choices[0]!.message['reasoning_content'], 'We count them.')
    t.match(told.usage, usage)
  }
}

/** Two texts more than the vendor takes at once become two requests, whose vectors and tokens are put together. */
export const embedsInBatches = async (
  t: Lasting & Pick<Test, 'same'>,
  { provider, settings }: Recording,
  { model, most, path }: { readonly model: string; readonly most: number; readonly path: string },
): Promise<void> => {
  const server = await backend(t, (request) => {
    const input: readonly string[] = bodyOf(request).input
    const data = input.map((text, index) => ({ object: 'embedding', index, embedding: [Number(text)] }))
    return { headers: json, body: JSON.stringify({ data, usage: { prompt_tokens: input.length, total_tokens: 0 } }) }
  })
  const upstream = await provided(t, provider, settings(server.url))
  const texts = Array.from({ length: most + 2 }, (_, at) => `${at}`)
  const { vectors, usage } = await upstream.embed!({ model, texts }, never)
  t.same(
    vectors.map(([number]) => `${number}`),
    texts,
  )
  t.same(usage, { input: most + 2, output: 0 })
  t.same(
    server.asked.map((request) => [request.path, bodyOf(request).input.length]),
    [
      [path, most],
      [path, 2],
    ],
  )
}

/** Chats whole and streamed, by the provider and by the client of others: the backend is asked the same. */
export const asksAlike = async (
  t: Lasting & Pick<Test, 'equal' | 'same'>,
  recording: Recording,
  settings: object,
  clientAt: (url: string) => OpenAI,
  own: object,
): Promise<void> => {
  const server = await backend(t, async ({ body }) =>
    body.includes('"stream":true')
      ? {
          headers: { 'content-type': recording.stream.type },
          body: await vector(`${recording.vectors as string}/chat.sse`),
        }
      : { headers: json, body: await vector(`${recording.vectors as string}/chat.json`) },
  )
  const ours = await provided(t, recording.provider, { ...settings, ...recording.settings(server.url) })
  const theirs = clientAt(server.url)
  for (const stream of [false, true]) {
    await completed(ours, { model: 'm', stream, body: { messages, ...own } })
    const options = stream ? { stream, stream_options: { include_usage: true } } : {}
    const result: any = await theirs.chat.completions.create({ model: 'm', messages, ...own, ...options } as never)
    if (stream) for await (const _ of result);
    compare(t, server)
  }
}
