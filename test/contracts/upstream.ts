import { deepEqual, equal, ok } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { BadRequest, UpstreamFailed } from '../../core/errors.ts'
import { collectChunks, chunksOfCompletion } from '../../core/inference/collect-chunks.ts'
import type { ChatCall, Chunk, Completion, Upstream } from '../../core/ports/upstream.ts'
import { careless } from '../fakes/careless-upstreams.ts'
import { simple } from '../fakes/simple-stage.ts'
import { proof } from './contract.ts'

/** What the backend behind the upstream does from now on. Wherever one of its errors has a text, `secret-of-the-backend` stands in it. */
export type Scene =
  /** The same answer, streamed or not, as the call asks. */
  | 'answers'
  /** The same calls of two tools, streamed or not. */
  | 'calls tools'
  /** `answers`, one byte after the other. */
  | 'dribbles'
  /** `answers`, as far as this share of its bytes; then the socket breaks, ends well, or stands still. */
  | { readonly [how in 'cut' | 'end' | 'stall']?: number }
  /** Takes the request and says nothing. */
  | 'silent'
  | 'refuses'
  /** 401. */
  | 'denies'
  /** 429, and says that another try makes sense in 7 seconds. */
  | 'limits'
  /** 500. */
  | 'breaks'
  /** A page of HTML with a 200. */
  | 'page'
  /** Part of `answers`, then an error, inside a stream that began well. */
  | 'complains'
  /** `answers`, but something in the middle of the stream is no JSON. */
  | 'garbles'

/** An upstream in front of a backend that does as it is told. */
export interface Stage {
  readonly upstream: Upstream
  /** The backend's own name of the model that is asked. */
  readonly model: string
  scene(scene: Scene): void
  /** The body of the last chat request as the backend got it. */
  asked(): Readonly<Record<string, unknown>>
  /** How many sockets to the backend are open. */
  sockets(): Promise<number>
}

const never = new AbortController().signal

const call = (stage: Stage, stream: boolean, more: Record<string, unknown> = {}): ChatCall => ({
  model: stage.model,
  stream,
  body: { messages: [{ role: 'user', content: 'How many cafés?' }], ...more },
})

const completed = async (stage: Stage, signal = never): Promise<Completion> => {
  const answer = await stage.upstream.chat!(call(stage, false), signal)
  return answer.kind === 'completion' ? answer.completion : collectChunks(answer.chunks)
}

const streamed = async (stage: Stage, signal = never): Promise<AsyncIterable<Chunk>> => {
  const answer = await stage.upstream.chat!(call(stage, true), signal)
  return answer.kind === 'chunks' ? answer.chunks : chunksOfCompletion(answer.completion)
}

const folded = async (stage: Stage): Promise<Completion> => collectChunks(await streamed(stage))

/** What a caller reads of an answer; ids and times differ from call to call. */
const gist = ({ choices, usage }: Completion) => ({
  choices: choices.map(({ message, finish_reason }) => ({
    content: message.content || null,
    reasoning_content: message['reasoning_content'] || null,
    tools: (message.tool_calls ?? []).map(({ function: called }) => ({
      name: called.name,
      arguments: called.arguments,
    })),
    finish_reason,
  })),
  usage: usage && [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens],
})

const faultOf = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    await work()
  } catch (fault) {
    return fault
  }
  throw new Error('It did not fail')
}

const failsAgain = async (work: () => Promise<unknown>): Promise<UpstreamFailed> => {
  const fault = await faultOf(work)
  ok(fault instanceof UpstreamFailed, 'is UpstreamFailed')
  ok(fault.again, 'may be tried again')
  quiet(fault)
  return fault
}

const quiet = (fault: UpstreamFailed | BadRequest) => {
  ok(
    !`${fault.message}${JSON.stringify(fault.validator)}`.includes('secret-of-the-backend'),
    'says nothing of the backend',
  )
}

const both = (stage: Stage) => [() => completed(stage), () => folded(stage)]

/** The work fails with the signal's reason soon after the signal fires, and lets go of its socket. */
const stops = async (stage: Stage, work: (signal: AbortSignal) => Promise<unknown>) => {
  const before = await stage.sockets()
  const controller = new AbortController()
  const reason = new Error('enough')
  const fault = faultOf(() => work(controller.signal))
  await sleep(50)
  const fired = performance.now()
  controller.abort(reason)
  equal(await fault, reason)
  while ((await stage.sockets()) > before) await sleep(10)
  ok(performance.now() - fired < 1000, 'within a second')
}

const known = ['id', 'object', 'created', 'model', 'choices', 'usage', 'index', 'message', 'finish_reason', 'logprobs']

const shares = Array.from({ length: 12 }, (_, at) => at / 12)

export const upstream = proof({
  contract: {
    async 'lists its models'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      const models = await stage.upstream.models(never)
      ok(
        models.some(({ id, type }) => id === stage.model && type === 'CHAT'),
        'lists the model',
      )
    },
    async 'says the same in a stream as in one piece'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      const whole = gist(await completed(stage))
      ok(whole.choices[0]!.content, 'there is a text')
      equal(whole.choices[0]!.finish_reason, 'stop')
      deepEqual(gist(await folded(stage)), whole)
    },
    async 'calls tools in a stream as in one piece'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      stage.scene('calls tools')
      const whole = gist(await completed(stage))
      deepEqual(whole.choices[0]!.tools, Array(2).fill({ name: 'weather', arguments: '{"city":"Lima"}' }))
      equal(whole.choices[0]!.finish_reason, 'tool_calls')
      const stream = await folded(stage)
      deepEqual(gist(stream), whole)
      equal(new Set(stream.choices[0]!.message.tool_calls!.map(({ id }) => id)).size, 2, 'each has its id')
    },
    async 'says the same however its bytes arrive'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      const whole = gist(await folded(stage))
      stage.scene('dribbles')
      deepEqual(gist(await folded(stage)), whole)
      deepEqual(gist(await completed(stage)).choices, whole.choices)
    },
    async 'a stream that is cut throws, wherever it is cut'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      for (const share of shares) {
        for (const how of ['cut', 'end']) {
          stage.scene({ [how]: share })
          await failsAgain(() => folded(stage))
        }
      }
    },
    async 'an answer in one piece that is cut throws'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      for (const share of shares) {
        for (const how of ['cut', 'end']) {
          stage.scene({ [how]: share })
          await failsAgain(() => completed(stage))
        }
      }
    },
    async 'stops while it waits for an answer'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      stage.scene('silent')
      await stops(stage, (signal) => completed(stage, signal))
      await stops(stage, (signal) => streamed(stage, signal))
    },
    async 'stops in the middle of a stream'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      stage.scene({ stall: 0.6 })
      await stops(stage, async (signal) => collectChunks(await streamed(stage, signal)))
    },
    async 'lets go of a stream that is left'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      const before = await stage.sockets()
      stage.scene({ stall: 0.6 })
      for await (const chunk of await streamed(stage)) {
        ok(chunk, 'something came')
        break
      }
      const left = performance.now()
      while ((await stage.sockets()) > before) {
        ok(performance.now() - left < 1000, 'within a second')
        await sleep(10)
      }
    },
    async 'reports usage'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      for (const answer of both(stage)) {
        const { usage } = await answer()
        ok(usage && usage.prompt_tokens > 0 && usage.completion_tokens > 0, 'counts both')
        equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
      }
    },
    async 'a refusal is the caller’s, without a word of the backend'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      stage.scene('refuses')
      for (const answer of both(stage)) {
        const fault = await faultOf(answer)
        ok(fault instanceof BadRequest, 'is BadRequest')
        quiet(fault)
        ok(fault.cause instanceof Error, 'what happened is its cause')
      }
    },
    async 'too many requests: again, and when'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      stage.scene('limits')
      for (const answer of both(stage)) {
        const fault = await failsAgain(answer)
        equal(fault.answered, 429)
        equal(fault.retryAfter, 7000)
      }
    },
    async 'its own failures and our credentials are not the caller’s fault'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      for (const [scene, status] of [
        ['breaks', 500],
        ['denies', 401],
      ] as const) {
        stage.scene(scene)
        for (const answer of both(stage)) equal((await failsAgain(answer)).answered, status)
      }
    },
    async 'fields that nobody knows go through, both ways'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      const answers = [false, true].map(async (stream) => {
        const answer = await stage.upstream.chat!(call(stage, stream, { nobody_knows: { deep: [1, 'x'] } }), never)
        return answer.kind === 'completion' ? answer.completion : collectChunks(answer.chunks)
      })
      for (const answer of await Promise.all(answers)) {
        const names = Object.keys({ ...answer, ...answer.choices[0] })
        ok(
          names.some((name) => !known.includes(name)),
          'an unknown field came',
        )
      }
      deepEqual(stage.asked()['nobody_knows'], { deep: [1, 'x'] })
      equal(stage.asked()['model'], stage.model)
    },
    async 'a page instead of an answer is a failure'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      stage.scene('page')
      for (const answer of both(stage)) await failsAgain(answer)
      ok((await faultOf(() => stage.upstream.models(never))) instanceof UpstreamFailed, 'no list either')
    },
    async 'an error inside a stream throws, behind what came before'(fresh: () => Promise<Stage>) {
      const stage = await fresh()
      for (const scene of ['complains', 'garbles'] as const) {
        stage.scene(scene)
        let chunks = 0
        await failsAgain(async () => {
          for await (const _ of await streamed(stage)) chunks++
        })
        ok(chunks > 0, 'something came')
      }
    },
  },
  right: simple,
  wrong: careless,
})
