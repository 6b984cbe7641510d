import { one } from '../container.ts'
import { plugin } from '../plugin.ts'
import { Clock, Random } from '../ports/platform.ts'
import type {
  ChatAnswer,
  ChatBody,
  ChatCall,
  Completion,
  Dialect,
  Ongoing,
  Upstream,
  WireUsage,
} from '../ports/upstream.ts'
import { Witness } from '../ports/backend-observer.ts'
import { Settings } from '../settings.ts'
import { giveBack } from '../abort.ts'
import { breakers } from './routing/breaker.ts'
import type { Ability, Candidate, Entry } from './models/catalog-entry.ts'
import { flow, leave, open, type Live, type Opened } from './routing/resilient-stream.ts'
import { fold, unfold } from './collect-chunks.ts'
import { begun, lasting } from './media/ongoing.ts'
import { ownCaches } from './prompt-caches.ts'
import { hedges } from './routing/hedges.ts'
import { holding } from './routing/context-window.ts'
import { pick } from './routing/order-backends.ts'
import { remaining, rescuable } from './routing/continue-stream.ts'
import { choicesOf } from './metering/tokens.ts'
import { seek, type Found, type Plan, type Search } from './routing/failover.ts'

interface Wish {
  readonly entry: Entry
  /** The backend that the caller pins. */
  readonly provider?: string | null
  /** Calls with the same one prefer the same backend. */
  readonly affinity?: string | null
  /** Ms for all attempts together; `timeouts.total` when absent. */
  readonly total?: number
}

export interface Task extends Wish {
  readonly ability: Ability
}

export interface ChatTask extends Wish {
  readonly body: ChatBody
  readonly stream: boolean
  /** Whose part of the backends' prompt caches is used; no part is named when absent. */
  readonly organization?: string
  /** Ms to the first token of a stream over all attempts, of which the last backend has what is left; `timeouts.total` bounds them when absent. */
  readonly patience?: number
  /** The same for a backend that speaks this dialect, undefined for the common one; `body` for all when absent. */
  readonly fit?: (dialect: Dialect | undefined) => Fitted
}

type Fitted = Pick<ChatCall, 'body' | 'native'>

/** The answer with what can be told of it; for a stream that changes as it runs. */
export interface Served<A extends ChatAnswer = ChatAnswer> {
  readonly answer: A
  /** Who answers; null until a stream's first token. */
  readonly backend: string | null
  /** As the backend counted, all parts of a rescued answer together; null while or when it did not say. */
  readonly usage: WireUsage | null
  /** Characters of text that were given so far. */
  readonly size: number
  /** Each backend that was asked, in order, as often as it was. */
  readonly asked: readonly string[]
  /** Attempts that the caller was not told of yet; whoever tells takes them out. */
  readonly notes: string[]
}

type Whole = Extract<ChatAnswer, { kind: 'completion' }>
type Chunks = Extract<ChatAnswer, { kind: 'chunks' }>

/** Every call to a backend: who is asked, how long, how often, and what happens when it fails. */
export interface Inference {
  /** Throws BadRequest when the pinned provider does not serve the model, and what the last backend threw when none answers. */
  run<T>(
    task: Task,
    ask: (candidate: Candidate, signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: T; readonly backend: string }>
  /** As `run`, for an answer that goes on: resolves with the first part, and retries only until then. The signal ends what is left. */
  stream<Answer extends Ongoing<unknown>>(
    task: Task,
    ask: (candidate: Candidate, signal: AbortSignal) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: Answer; readonly backend: string }>
  /** Of the kind that was asked for. A stream is given at once and connects on its first `next`, which rejects when no backend answers. */
  chat(task: ChatTask & { readonly stream: true }, signal: AbortSignal): Promise<Served<Chunks>>
  chat(task: ChatTask & { readonly stream: false }, signal: AbortSignal): Promise<Served<Whole>>
  chat(task: ChatTask, signal: AbortSignal): Promise<Served>
}

export const Inference = one<Inference>('Inference')

export const inference = plugin({
  port: Inference,
  name: 'inference',
  needs: { settings: Settings, clock: Clock, random: Random, witnesses: Witness },
  create: ({ settings: { timeouts, routing }, clock, random, witnesses }): Inference => {
    const breakerOf = breakers(routing.breaker)
    const saw: Witness['saw'] = (...it) => witnesses.forEach((witness) => witness.saw(...it))
    const searching = { clock, random, retries: routing.retries, hedges: hedges(routing.hedge), breakerOf, saw }
    const weighing = {
      fraction: () => random.fraction(),
      isOpen: ({ id }: Candidate) => breakerOf(id).rest(clock.now()) > 0,
    }

    const order = ({ entry, provider, affinity }: Wish, ability: Ability): readonly Candidate[] =>
      pick({ entry, ability, provider: provider ?? null, affinity: affinity ?? null }, weighing)

    const settle = async <T>(plan: Plan<T>, signal: AbortSignal): Promise<Found<T>> => {
      signal.throwIfAborted()
      const search = seek(searching, plan)
      const stop = () => search.stop(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      try {
        const found = await search.found
        breakerOf(found.candidate.id).ok(found.pass)
        return found
      } finally {
        signal.removeEventListener('abort', stop)
      }
    }

    const whole = async (task: ChatTask, signal: AbortSignal): Promise<Served<Whole>> => {
      const { total = timeouts.total } = task
      const asked: string[] = []
      const plan: Plan<Whole> = {
        order: holding(order(task, 'chat'), task.body),
        total,
        each: total,
        async ask({ upstream, model, provider }, signal) {
          asked.push(provider)
          const answer = await upstream.chat!({ model, ...fitted(task, upstream), stream: false }, signal)
          return answer.kind === 'completion' ? answer : { kind: 'completion', completion: await fold(answer.chunks) }
        },
      }
      const { answer, candidate, controller } = await settle(plan, signal)
      giveBack(controller)
      const { completion } = answer
      return {
        answer,
        backend: candidate.provider,
        usage: completion.usage ?? null,
        size: sizeOf(completion),
        asked,
        notes: [],
      }
    }

    const stream = async (task: ChatTask, signal: AbortSignal): Promise<Served<Chunks>> => {
      const { entry, body, patience, total = patience ?? timeouts.total } = task
      const candidates = holding(order(task, 'chat'), body)
      const given = rescuable(entry, body)
      const live: Live = { backend: null, usage: null, size: 0, asked: [], notes: [] }

      const search = (after: Candidate | null): Search<Opened> =>
        seek(searching, {
          order: after === null ? candidates : startingBehind(candidates, after),
          total: after === null ? total : timeouts.firstToken,
          each: timeouts.firstToken,
          patient: after === null && patience !== undefined,
          async ask({ upstream, model, provider }, signal) {
            live.asked.push(provider)
            const { body, ...own } = fitted(task, upstream)
            const call = { model, stream: true }
            // A call that goes on from a prefix is no request of the caller's any more.
            const going = after === null ? { body, ...own } : { body: remaining(given!, body), prefix: given!.text }
            const answer = await upstream.chat!({ ...call, ...going }, signal)
            return open(answer.kind === 'chunks' ? answer.chunks : unfold(answer.completion))
          },
          drop: ({ source }) => leave(source),
          told: (backend, attempt) => live.notes.push(`attempt ${attempt} by ${backend}`),
        })

      const chunks = flow({
        clock,
        signal,
        live,
        given,
        search,
        breakerOf,
        saw,
        idle: timeouts.idle,
        longest: timeouts.stream,
        rescues: Math.max(1, routing.retries),
        choices: choicesOf(body),
      })
      return Object.assign(live, { answer: { kind: 'chunks', chunks } as const })
    }

    return {
      async run(task, ask, signal) {
        const { total = timeouts.total } = task
        const plan = {
          order: order(task, task.ability),
          total,
          each: total,
          ask: async (...it: Parameters<typeof ask>) => ask(...it),
        }
        const { answer, candidate, controller } = await settle(plan, signal)
        giveBack(controller)
        return { answer, backend: candidate.provider }
      },
      async stream(task, ask, signal) {
        const { total = timeouts.total } = task
        const plan = {
          order: order(task, task.ability),
          total,
          each: total,
          ask: async (...it: Parameters<typeof ask>) => begun(await ask(...it)),
        }
        const { answer, candidate, controller } = await settle(plan, signal)
        const bounds = { clock, idle: timeouts.idle, longest: timeouts.stream }
        return { answer: lasting(answer, controller, signal, bounds), backend: candidate.provider }
      },
      chat: ((asked: ChatTask, signal: AbortSignal) => {
        const task = routing.promptCaches === 'shared' ? asked : withOwnCaches(asked)
        return task.stream ? stream(task, signal) : whole(task, signal)
      }) as Inference['chat'],
    }
  },
})

const withOwnCaches = (task: ChatTask): ChatTask => {
  const { fit, organization = null } = task
  const body = ownCaches(task.body, organization)
  if (body === task.body) return task
  if (fit === undefined) return { ...task, body }
  const own = (it: Fitted): Fitted => ({ ...it, body: ownCaches(it.body, organization) })
  return { ...task, body, fit: (dialect) => own(fit(dialect)) }
}

const fitted = (task: ChatTask, { dialect }: Upstream): Fitted => {
  const { body, native }: Fitted = task.fit?.(dialect) ?? task
  return native === undefined ? { body } : { body, native }
}

/** Everybody else first, then the one that broke. */
const startingBehind = (candidates: readonly Candidate[], after: Candidate): readonly Candidate[] => {
  const at = candidates.indexOf(after)
  return [...candidates.slice(at + 1), ...candidates.slice(0, at + 1)]
}

const sizeOf = ({ choices }: Completion): number =>
  choices.reduce((size, { message }) => size + (typeof message.content === 'string' ? message.content.length : 0), 0)
