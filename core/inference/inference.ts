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
  TokenCount,
  WireUsage,
} from '../ports/upstream.ts'
import type { BackendProof } from '../ports/backend-evidence.ts'
import { BackendObserver } from '../ports/backend-observer.ts'
import { Settings } from '../settings.ts'
import { returnController } from '../abort.ts'
import { type Breakers, breakers } from './routing/breaker.ts'
import { type Ability, type Candidate, dialectOf, type Entry } from './models/catalog-entry.ts'
import { resilientStream } from './routing/resilient-stream.ts'
import { leaveSource, openStream, type OpenedStream } from './routing/open-stream.ts'
import type { BrokenStream, StreamState } from './routing/stream-plan.ts'
import { collectChunks, chunksOfCompletion } from './collect-chunks.ts'
import { onceBegun, withEnds } from './media/ongoing.ts'
import { withOwnCache } from './prompt-caches.ts'
import { countersFirst } from './routing/counters.ts'
import { hedges } from './routing/hedges.ts'
import { provenBy } from './proven.ts'
import { largeEnough } from './routing/context-window.ts'
import { orderBackends } from './routing/order-backends.ts'
import { continuationBody, continuable } from './routing/continue-stream.ts'
import { choicesOf } from './metering/tokens.ts'
import type { Found } from './routing/attempt.ts'
import { CurrentTrace } from '../live/following.ts'
import { askInTurn, type FailoverNeeds, type Plan, type Search } from './routing/failover.ts'

interface TaskOptions {
  readonly entry: Entry
  /** The backend that the caller pins. */
  readonly provider?: string | null
  /** Calls with the same one prefer the same backend. */
  readonly affinity?: string | null
  /** Ms for all attempts together; `timeouts.total` when absent. */
  readonly total?: number
}

export interface Task<A extends Ability = Ability> extends TaskOptions {
  readonly ability: A
}

export interface ChatTask extends TaskOptions {
  readonly body: ChatBody
  readonly stream: boolean
  /** Whose part of the backends' prompt caches is used; no part is named when absent. */
  readonly organization?: string
  /** Ms to the first token of a stream over all attempts, of which the last backend has what is left; `timeouts.total` bounds them when absent. */
  readonly patience?: number
  /** The same for a backend that speaks this dialect, undefined for the common one; `body` for all when absent. */
  readonly fit?: (dialect: Dialect | undefined) => FittedRequest
}

/** A prompt that is counted by the backends that a chat would ask. */
export type CountTask = Omit<ChatTask, 'stream' | 'patience' | 'organization'>

type FittedRequest = Pick<ChatCall, 'body' | 'native'>

/** An answer with its facts. The facts of a stream change while it runs. */
export interface Served<A extends ChatAnswer = ChatAnswer> {
  readonly answer: A
  /** Who answers; null until a stream's first token. */
  readonly backend: string | null
  /** The evidence under which this backend received the request; absent when none was required. */
  readonly proven?: BackendProof | undefined
  /** As the backend counted, all parts of a rescued answer together; null while or when it did not say. */
  readonly usage: WireUsage | null
  /** Characters of text that were given so far. */
  readonly size: number
  /** Each backend that was asked, in order, as often as it was. */
  readonly asked: readonly string[]
  /** Attempts that the caller does not know of yet. The route that reports an attempt removes it. */
  readonly notes: string[]
}

type Whole = Extract<ChatAnswer, { kind: 'completion' }>
type Chunks = Extract<ChatAnswer, { kind: 'chunks' }>

/** Every call to a backend: who is asked, how long, how often, and what happens when it fails. */
export interface Inference {
  /** Throws BadRequest when the pinned provider does not serve the model, and what the last backend threw when none answers. */
  run<T, A extends Ability>(
    task: Task<A>,
    ask: (candidate: Candidate<A>, signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: T; readonly backend: string }>
  /** As `run`, for an answer that goes on: resolves with the first part, and retries only until then. The signal ends what is left. */
  stream<Answer extends Ongoing<unknown>, A extends Ability>(
    task: Task<A>,
    ask: (candidate: Candidate<A>, signal: AbortSignal) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: Answer; readonly backend: string }>
  /** Of the kind that was asked for. A stream is given at once and connects on its first `next`, which rejects when no backend answers. */
  chat(task: ChatTask & { readonly stream: true }, signal: AbortSignal): Promise<Served<Chunks>>
  chat(task: ChatTask & { readonly stream: false }, signal: AbortSignal): Promise<Served<Whole>>
  chat(task: ChatTask, signal: AbortSignal): Promise<Served>
  /**
   * Counts a prompt by the backend that would answer a chat. Each backend is asked once, and the next one after a fault.
   * Null where the backend whose turn it is does not count.
   */
  count(task: CountTask, signal: AbortSignal): Promise<TokenCount | null>
  readonly breakers: Breakers
}

export const Inference = one<Inference>('Inference')

export const inference = plugin({
  port: Inference,
  name: 'inference',
  needs: { settings: Settings, clock: Clock, random: Random, witnesses: BackendObserver, traces: CurrentTrace },
  create: ({ settings: { timeouts, routing }, clock, random, witnesses, traces: [traceOf] }): Inference => {
    const all = breakers(routing.breaker)
    const breakerOf = all.of
    const saw: BackendObserver['saw'] = (...it) => witnesses.forEach((witness) => witness.saw(...it))
    const untraced = { clock, random, retries: routing.retries, hedges: hedges(routing.hedge), breakerOf, saw }
    const searching = (): FailoverNeeds => {
      const trace = traceOf?.() ?? null
      return trace === null ? untraced : { ...untraced, trace }
    }
    const weighing = {
      fraction: () => random.fraction(),
      isOpen: ({ id }: Pick<Candidate, 'id'>) => breakerOf(id).rest(clock.now()) > 0,
    }

    /** What is seen of a stream that broke, in its trace too. */
    const sawStream = ({ trace }: FailoverNeeds): BackendObserver['saw'] =>
      trace === undefined
        ? saw
        : (provider, outcome, ms, status, streams) => {
            saw(provider, outcome, ms, status, streams)
            trace.broke(provider, status)
          }

    const order = <A extends Ability>({ entry, provider, affinity }: TaskOptions, ability: A) =>
      orderBackends({ entry, ability, provider: provider ?? null, affinity: affinity ?? null }, weighing)

    // A broken route for counts says nothing of the backend's chats.
    const countBreakers = breakers(routing.breaker)
    /** A count is no answer, so no observer takes its time for one. */
    const searchingCount = (): FailoverNeeds => ({
      ...searching(),
      retries: 0,
      hedges: hedges(null),
      breakerOf: countBreakers.of,
      saw: () => undefined,
    })

    const settle = async <T, A extends Ability>(
      plan: Plan<T, A>,
      signal: AbortSignal,
      needs = searching(),
    ): Promise<Found<T, A>> => {
      signal.throwIfAborted()
      const search = askInTurn(needs, plan)
      const stop = () => search.stop(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      try {
        const found = await search.found
        needs.breakerOf(found.candidate.id).ok(found.pass)
        return found
      } finally {
        signal.removeEventListener('abort', stop)
      }
    }

    const whole = async (task: ChatTask, signal: AbortSignal): Promise<Served<Whole>> => {
      const { total = timeouts.total } = task
      const asked: string[] = []
      const plan: Plan<Whole, 'chat'> = {
        order: largeEnough(order(task, 'chat'), task.body),
        total,
        each: total,
        async ask(candidate, signal) {
          const { upstream, model, provider } = candidate
          asked.push(provider)
          const answer = await upstream.chat({ model, ...fittedRequest(task, candidate), stream: false }, signal)
          return answer.kind === 'completion'
            ? answer
            : { ...provenBy(answer), kind: 'completion', completion: await collectChunks(answer.chunks) }
        },
      }
      const { answer, candidate, controller } = await settle(plan, signal)
      returnController(controller)
      const { completion } = answer
      return {
        answer,
        backend: candidate.provider,
        ...provenBy(answer),
        usage: completion.usage ?? null,
        size: sizeOf(completion),
        asked,
        notes: [],
      }
    }

    const stream = async (task: ChatTask, signal: AbortSignal): Promise<Served<Chunks>> => {
      const { entry, body, patience, total = patience ?? timeouts.total } = task
      const candidates = largeEnough(order(task, 'chat'), body)
      const given = continuable(entry, body)
      const needs = searching()
      const live: StreamState = { backend: null, usage: null, size: 0, asked: [], notes: [] }

      const search = (broken: BrokenStream | null): Search<OpenedStream, 'chat'> =>
        askInTurn(needs, {
          streams: true,
          rescues: broken !== null,
          order: broken === null ? candidates : startingBehind(candidates, broken.candidate),
          total: broken === null ? total : timeouts.firstToken,
          each: timeouts.firstToken,
          patient: broken === null && patience !== undefined,
          async ask(candidate, signal) {
            const { upstream, model, provider } = candidate
            live.asked.push(provider)
            const { body, ...own } = fittedRequest(task, candidate)
            const call = { model, stream: true }
            // A call that goes on from a prefix is no request of the caller's any more.
            const going =
              broken === null
                ? { body, ...own }
                : { body: continuationBody(broken.given, body), prefix: broken.given.text }
            const answer = await upstream.chat({ ...call, ...going }, signal)
            const chunks = answer.kind === 'chunks' ? answer.chunks : chunksOfCompletion(answer.completion)
            return { ...(await openStream(chunks)), ...provenBy(answer) }
          },
          drop: ({ source }) => leaveSource(source),
          told: (backend, attempt) => live.notes.push(`attempt ${attempt} by ${backend}`),
        })

      const chunks = resilientStream({
        clock,
        signal,
        live,
        given,
        search,
        breakerOf,
        saw: sawStream(needs),
        idle: timeouts.idle,
        longest: timeouts.stream,
        rescues: Math.max(1, routing.retries),
        choices: choicesOf(body),
      })
      return Object.assign(live, { answer: { kind: 'chunks', chunks } as const })
    }

    return {
      breakers: all,
      async run(task, ask, signal) {
        const { total = timeouts.total } = task
        const plan = {
          order: order(task, task.ability),
          total,
          each: total,
          ask: async (...it: Parameters<typeof ask>) => ask(...it),
        }
        const { answer, candidate, controller } = await settle(plan, signal)
        returnController(controller)
        return { answer, backend: candidate.provider }
      },
      async stream(task, ask, signal) {
        const { total = timeouts.total } = task
        const plan = {
          order: order(task, task.ability),
          total,
          each: total,
          streams: true,
          ask: async (...it: Parameters<typeof ask>) => onceBegun(await ask(...it)),
        }
        const { answer, candidate, controller } = await settle(plan, signal)
        const bounds = { clock, idle: timeouts.idle, longest: timeouts.stream }
        return { answer: withEnds(answer, controller, signal, bounds), backend: candidate.provider }
      },
      chat: ((asked: ChatTask, signal: AbortSignal) => {
        const task = routing.promptCaches === 'shared' ? asked : withOwnCaches(asked)
        return task.stream ? stream(task, signal) : whole(task, signal)
      }) as Inference['chat'],
      async count(task, signal) {
        const able = countersFirst(largeEnough(order(task, 'chat'), task.body), weighing.isOpen)
        if (able.length === 0) return null
        const { total = Math.min(timeouts.total, longestCount) } = task
        const plan: Plan<TokenCount | null, 'chat'> = {
          order: able,
          total,
          each: total / able.length,
          ask: async (candidate, signal) => {
            const { upstream, model } = candidate
            return (await upstream.countTokens?.({ model, ...fittedRequest(task, candidate) }, signal)) ?? null
          },
        }
        const { answer, controller } = await settle(plan, signal, searchingCount())
        returnController(controller)
        return answer
      },
    }
  },
})

/** Ms for the counts of all backends together: an estimate is there at once. */
const longestCount = 5_000

const withOwnCaches = (task: ChatTask): ChatTask => {
  const { fit, organization = null } = task
  const body = withOwnCache(task.body, organization)
  if (body === task.body) return task
  if (fit === undefined) return { ...task, body }
  const own = (it: FittedRequest): FittedRequest => ({ ...it, body: withOwnCache(it.body, organization) })
  return { ...task, body, fit: (dialect) => own(fit(dialect)) }
}

const fittedRequest = (task: Pick<ChatTask, 'body' | 'fit'>, candidate: Candidate<'chat'>): FittedRequest => {
  const { body, native }: FittedRequest = task.fit?.(dialectOf(candidate)) ?? task
  return native === undefined ? { body } : { body, native }
}

/** Everybody else first, then the one that broke. */
const startingBehind = <C>(candidates: readonly C[], after: C): readonly C[] => {
  const at = candidates.indexOf(after)
  return [...candidates.slice(at + 1), ...candidates.slice(0, at + 1)]
}

const sizeOf = ({ choices }: Completion): number =>
  choices.reduce((size, { message }) => size + (typeof message.content === 'string' ? message.content.length : 0), 0)
