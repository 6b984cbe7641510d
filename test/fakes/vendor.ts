import { collectChunks } from '../../core/inference/collect-chunks.ts'
import type { ChatCall, Completion, Upstream } from '../../core/ports/upstream.ts'
import type { Asked } from './recorded.ts'
import { backend, type Lasting, provided, type Recording, vector } from '../contracts/stage.ts'

const never = new AbortController().signal
export const json = { 'content-type': 'application/json' }
export const messages = [{ role: 'user', content: 'Hi' }]

/** A scripted vendor that plays one recorded answer to everything, and the provider in front of it. */
export const scripted = async (
  t: Lasting,
  it: Recording,
  file: string,
  answer: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
) => {
  const server = await backend(t, async () => ({
    headers: file.endsWith('.sse') ? { 'content-type': it.stream.type } : json,
    ...answer,
    body: await vector(`${it.vectors as string}/${file}`),
  }))
  const upstream = await provided(t, it.provider, it.settings(server.url))
  return { upstream, asked: server.asked }
}

/** The request that a call with these fields becomes. */
export const wording = async (t: Lasting, it: Recording, call: Partial<ChatCall> = {}) => {
  const { upstream, asked } = await scripted(t, it, call.stream === true ? 'chat.sse' : 'chat.json')
  await completed(upstream, { model: it.model, stream: false, body: { messages }, ...call })
  const { path, headers, body } = asked[0]!
  return { path, headers, body: JSON.parse(body.toString()) as Record<string, unknown> }
}

export const completed = async (upstream: Upstream, call: ChatCall): Promise<Completion> => {
  const answer = await upstream.chat!(call, never)
  return answer.kind === 'completion' ? answer.completion : collectChunks(answer.chunks)
}

/** What the work fails with; null where it does not fail. */
export const failed = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (fault: unknown) => fault,
  )

/** What the provider throws when the vendor refuses with this. */
export const refusal = async (
  t: Lasting,
  it: Recording,
  status: number,
  body: string,
  headers = {},
): Promise<unknown> => {
  const server = await backend(t, () => ({ status, headers: { ...json, ...headers }, body }))
  const upstream = await provided(t, it.provider, it.settings(server.url))
  return failed(completed(upstream, { model: it.model, stream: false, body: { messages } }))
}

/** The models that the provider lists, and the request for them. */
export const listing = async (
  t: Lasting,
  it: Recording,
): Promise<{ readonly models: unknown; readonly asked: Asked }> => {
  const { upstream, asked } = await scripted(t, it, 'models.json')
  return { models: await upstream.models(never), asked: asked[0]! }
}
