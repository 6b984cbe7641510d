import { equal, ok } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { BadRequest, UpstreamFailed } from '../../core/errors.ts'
import type { TokenCount } from '../../core/ports/upstream.ts'
import { careless } from '../fakes/careless-counters.ts'
import { simple } from '../fakes/simple-stage.ts'
import { proof } from './contract.ts'
import type { Scene, Stage } from './upstream.ts'

/** An upstream in front of a backend that counts tokens as it is told: in `answers` as many as `tokens`. */
export interface Counter extends Stage {
  readonly tokens: number
}

const never = new AbortController().signal

const count = async ({ upstream, model }: Counter, signal = never): Promise<TokenCount | null> =>
  upstream.countTokens!({ model, body: { messages: [{ role: 'user', content: 'How many cafés?' }] } }, signal)

const faultOf = async (counter: Counter, scene: Scene): Promise<unknown> => {
  counter.scene(scene)
  return count(counter).then(
    () => {
      throw new Error('It did not fail')
    },
    (fault: unknown) => fault,
  )
}

const quiet = (fault: UpstreamFailed | BadRequest) =>
  ok(
    !`${fault.message}${JSON.stringify(fault.validator)}`.includes('secret-of-the-backend'),
    'says nothing of the backend',
  )

const failsAgain = async (counter: Counter, scene: Scene): Promise<UpstreamFailed> => {
  const fault = await faultOf(counter, scene)
  ok(fault instanceof UpstreamFailed, `${JSON.stringify(scene)}: is UpstreamFailed`)
  ok(fault.again, 'may be tried again')
  quiet(fault)
  return fault
}

export const counter = proof({
  contract: {
    async 'tells the tokens that the backend counts'(fresh: () => Promise<Counter>) {
      const counter = await fresh()
      equal((await count(counter))?.tokens, counter.tokens)
    },
    async 'asks for a count and for no answer'(fresh: () => Promise<Counter>) {
      const counter = await fresh()
      await count(counter)
      ok(JSON.stringify(counter.asked()).length > 2, 'the backend was asked')
      equal(counter.asked()['stream'], undefined)
    },
    async 'a refusal is the caller’s, without a word of the backend'(fresh: () => Promise<Counter>) {
      const fault = await faultOf(await fresh(), 'refuses')
      ok(fault instanceof BadRequest, 'is BadRequest')
      quiet(fault)
      ok(fault.cause instanceof Error, 'what happened is its cause')
    },
    async 'too many requests: again, and when'(fresh: () => Promise<Counter>) {
      const fault = await failsAgain(await fresh(), 'limits')
      equal(fault.answered, 429)
      equal(fault.retryAfter, 7000)
    },
    async 'its own failures and our credentials are not the caller’s fault'(fresh: () => Promise<Counter>) {
      const counter = await fresh()
      equal((await failsAgain(counter, 'breaks')).answered, 500)
      equal((await failsAgain(counter, 'denies')).answered, 401)
    },
    async 'what is no count is a failure'(fresh: () => Promise<Counter>) {
      const counter = await fresh()
      for (const scene of ['page', 'garbles', { cut: 0.5 }, { end: 0.5 }] as const) await failsAgain(counter, scene)
    },
    async 'stops while it waits for a count'(fresh: () => Promise<Counter>) {
      const counter = await fresh()
      counter.scene('silent')
      const before = await counter.sockets()
      const controller = new AbortController()
      const reason = new Error('enough')
      const fault = count(counter, controller.signal).catch((fault: unknown) => fault)
      controller.abort(reason)
      equal(await fault, reason)
      while ((await counter.sockets()) > before) await sleep(10)
    },
  },
  right: (): Counter => ({ ...simple(), tokens: 21 }),
  wrong: careless,
})
