import { BadRequest, UpstreamFailed } from '../../core/errors.ts'
import { chunksOfCompletion } from '../../core/inference/collect-chunks.ts'
import type { Completion } from '../../core/ports/upstream.ts'
import type { Scene, Stage } from '../contracts/upstream.ts'

/** A stage whose backend is a few lines; what it does is what is right. */
export const simple = (): Stage => {
  let scene: Scene = 'answers'
  let last: Readonly<Record<string, unknown>> = {}
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  const head = { id: '1', object: 'chat.completion', created: 1, model: 'm', service_tier: 'default' }
  const calls = [0, 1].map((n) => ({
    id: `c${n}`,
    type: 'function',
    function: { name: 'weather', arguments: '{"city":"Lima"}' },
  }))
  const play = (signal: AbortSignal): Completion => {
    signal.throwIfAborted()
    const cause = new Error('secret-of-the-backend')
    if (scene === 'refuses') throw new BadRequest('The backend refused the request', { cause })
    if (scene === 'limits') throw new UpstreamFailed(undefined, { again: true, answered: 429, retryAfter: 7000, cause })
    if (scene === 'denies') throw new UpstreamFailed(undefined, { again: true, answered: 401, cause })
    if (scene === 'breaks') throw new UpstreamFailed(undefined, { again: true, answered: 500, cause })
    if (scene === 'page') throw new UpstreamFailed(undefined, { again: true, cause })
    const message = { role: 'assistant', content: 'Two cafés 😀' }
    const printed =
      scene === 'calls tools'
        ? { message: { ...message, content: null, tool_calls: calls }, finish_reason: 'tool_calls' }
        : { message, finish_reason: 'stop' }
    return { ...head, choices: [{ index: 0, ...printed }], usage }
  }
  const broken = () => new UpstreamFailed(undefined, { again: true, cause: new Error('secret-of-the-backend') })
  const wait = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
  async function* chunks(completion: Completion, signal: AbortSignal) {
    let first = true
    for await (const chunk of chunksOfCompletion(completion)) {
      if (!first && typeof scene === 'object' && scene.stall !== undefined) await wait(signal)
      if (!first && (typeof scene === 'object' || scene === 'complains' || scene === 'garbles')) throw broken()
      first = false
      yield chunk
    }
  }
  return {
    model: 'm',
    scene: (to) => void (scene = to),
    asked: () => last,
    sockets: async () => 0,
    upstream: {
      name: 'simple',
      models: async (signal) => (play(signal), [{ id: 'm', type: 'CHAT' }]),
      async chat({ body, model, stream }, signal) {
        last = { ...body, model, stream }
        if (scene === 'silent') await wait(signal)
        const completion = play(signal)
        if (stream) return { kind: 'chunks', chunks: chunks(completion, signal) }
        if (typeof scene === 'object') throw broken()
        return { kind: 'completion', completion }
      },
      async countTokens({ body, model }, signal) {
        last = { ...body, model }
        if (scene === 'silent') await wait(signal)
        if (typeof scene === 'object' || scene === 'garbles') throw broken()
        play(signal)
        return { tokens: 21 }
      },
    },
  }
}
