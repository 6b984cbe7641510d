import { BadRequest, UpstreamFailed } from '../../core/errors.ts'
import type { Chunk, Completion, Upstream } from '../../core/ports/upstream.ts'
import type { Scene, Stage } from '../contracts/upstream.ts'

/** The right stage, with its upstream changed. */
const but =
  (change: (upstream: Required<Pick<Upstream, 'chat'>>, right: Stage) => Partial<Upstream>) => (right: Stage) => ({
    upstream: { ...right.upstream, ...change(right.upstream as Required<Pick<Upstream, 'chat'>>, right) },
  })

/** The right chat, with the chunks of its streams changed. */
const butChunks = (change: (chunks: AsyncIterable<Chunk>) => AsyncIterable<Chunk>) =>
  but(({ chat }) => ({
    async chat(call, signal) {
      const answer = await chat(call, signal)
      return answer.kind === 'chunks' ? { kind: 'chunks', chunks: change(answer.chunks) } : answer
    },
  }))

/** The right chat, with its faults changed. */
const butFaults = (change: (fault: unknown) => unknown) =>
  but(({ chat }) => ({ chat: (call, signal) => chat(call, signal).catch((fault) => Promise.reject(change(fault))) }))

async function* swallowing(chunks: AsyncIterable<Chunk>) {
  try {
    yield* chunks
  } catch {
    return
  }
}

async function* without(chunks: AsyncIterable<Chunk>, keep: (chunk: Chunk) => boolean) {
  for await (const chunk of chunks) if (keep(chunk)) yield chunk
}

/** For each promise a stage whose upstream breaks it. */
export const careless = {
  'lists its models': but(() => ({ models: async () => [] })),
  'says the same in a stream as in one piece': butChunks((chunks) =>
    without(chunks, ({ choices }) => !choices[0]?.delta.content),
  ),
  'calls tools in a stream as in one piece': butChunks((chunks) =>
    without(chunks, ({ choices }) => !choices[0]?.delta.tool_calls),
  ),
  'says the same however its bytes arrive': (right: Stage) => {
    let whole = true
    const { upstream } = butChunks((chunks) => (whole ? chunks : without(chunks, ({ choices }) => choices.length > 0)))(
      right,
    )
    return { upstream, scene: (scene: Scene) => (right.scene(scene), void (whole = scene !== 'dribbles')) }
  },
  'a stream that is cut throws, wherever it is cut': butChunks(swallowing),
  'an answer in one piece that is cut throws': but(({ chat }) => ({
    chat: (call, signal) =>
      call.stream
        ? chat(call, signal)
        : chat(call, signal).catch(() => ({ kind: 'completion' as const, completion: {} as Completion })),
  })),
  'stops while it waits for an answer': butFaults(() => new UpstreamFailed()),
  'stops in the middle of a stream': butChunks(swallowing),
  'lets go of a stream that is left': (right: Stage) => {
    let asked = 0
    return { sockets: async () => asked++, upstream: right.upstream }
  },
  'reports usage': butChunks((chunks) => without(chunks, ({ usage }) => !usage)),
  'a refusal is the caller’s, without a word of the backend': butFaults(
    ({ cause }: any) => new BadRequest(cause.message, { cause }),
  ),
  'too many requests: again, and when': butFaults(
    ({ cause }: any) => new UpstreamFailed(undefined, { again: true, answered: 429, cause }),
  ),
  'its own failures and our credentials are not the caller’s fault': butFaults(
    (cause) => new BadRequest('Refused', { cause }),
  ),
  'fields that nobody knows go through, both ways': but(({ chat }) => ({
    chat: ({ body, ...call }, signal) => chat({ ...call, body: { messages: body.messages } }, signal),
  })),
  'a page instead of an answer is a failure': but(() => ({ models: async () => [] })),
  'an error inside a stream throws, behind what came before': butChunks(swallowing),
}
