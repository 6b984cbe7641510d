import { UpstreamFailed } from '../../core/errors.ts'
import type { ChatCall, Chunk, Upstream } from '../../core/ports/upstream.ts'

export const chunk = (
  delta: Chunk['choices'][number]['delta'],
  finish: string | null = null,
  more: Partial<Chunk> = {},
): Chunk => ({
  id: 'one',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'its-own-name',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
})
export const say = (content: string, more: Partial<Chunk> = {}) => chunk({ content }, null, more)
export const stop = chunk({}, 'stop')
export const usage = (input: number, output: number): Chunk => ({
  ...chunk({}),
  choices: [],
  usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
})

/** A step of a scripted stream: a chunk, a fault, or silence until the call is given up. */
export type Step = Chunk | Error | 'silence'

export interface Actor extends Upstream {
  readonly calls: (ChatCall & { readonly signal: AbortSignal })[]
  /** Streams that are not closed. */
  open: number
  /** Streams and calls that were ended from our side. */
  closed: number
}

export const silence = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

/** A backend that plays one script a call; the last one is played again and again. */
export const actor = (name: string, ...scripts: readonly (readonly Step[] | Error | 'silence')[]): Actor => {
  const backend: Actor = {
    name,
    calls: [],
    open: 0,
    closed: 0,
    models: async () => [],
    async chat(call, signal) {
      const script = scripts[Math.min(backend.calls.length, scripts.length - 1)]!
      backend.calls.push({ ...call, signal })
      backend.open++
      let ended = false
      const end = () => {
        if (ended) return
        ended = true
        backend.open--
      }
      signal.addEventListener('abort', () => {
        if (!ended) backend.closed++
        end()
      })
      if (script === 'silence') return silence(signal)
      if (script instanceof Error) {
        end()
        throw script
      }
      const play = async function* (): AsyncGenerator<Chunk> {
        try {
          for (const step of script) {
            if (step === 'silence') await silence(signal)
            else if (step instanceof Error) throw step
            else yield step as Chunk
          }
        } finally {
          end()
        }
      }
      return { kind: 'chunks', chunks: play() }
    },
  }
  return backend
}

export const failed = (answered: number | null = 503, retryAfter: number | null = null) =>
  new UpstreamFailed(undefined, { again: true, answered, retryAfter })
