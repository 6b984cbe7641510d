import { observed } from '../ports/observed.ts'
import type { CurrentTrace, Observer, Saw } from '../ports/observer.ts'
import { leaveQuietly } from '../ports/flow.ts'
import type { Clock, Log, Random } from '../ports/platform.ts'
import type { ChatCall, Chunks, Completion, TokenCount, Upstream, Whole } from '../ports/upstream.ts'
import type { Settings } from '../settings.ts'
import { returnController } from '../abort.ts'
import { type Breakers, breakers } from './routing/breaker.ts'
import { type Ability, type Candidate, dialectOf } from './models/catalog-entry.ts'
import { resilientStream } from './routing/resilient-stream.ts'
import { openStream, type OpenedStream } from './routing/open-stream.ts'
import type { BrokenStream, StreamPlan, StreamState } from './routing/stream-plan.ts'
import { collectChunks, chunksOfCompletion } from './collect-chunks.ts'
import { onceBegun, withEnds } from './media/ongoing.ts'
import { withOwnCache } from './prompt-caches.ts'
import { countersFirst } from './routing/counters.ts'
import { hedges } from './routing/hedges.ts'
import { provenBy } from './proven.ts'
import { largeEnough } from './routing/context-window.ts'
import { orderBackends } from './routing/order-backends.ts'
import { continuationBody, continuable } from './routing/continue-stream.ts'
import { callSize, choicesOf } from './metering/tokens.ts'
import type { Found } from './routing/attempt.ts'
import { askInTurn, type FailoverNeeds, type Plan, type Search } from './routing/failover.ts'
import type { Calls, ChatTask, CountTask, FittedRequest, Served, Task, TaskOptions } from './task.ts'

interface CallNeeds {
  readonly settings: Settings
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly observers: readonly Observer[]
  readonly traces: readonly CurrentTrace[]
}

/** What all calls of one generation share. */
const shared = (
  { settings: { timeouts, routing }, clock, random, log, observers, traces: [traceOf] }: CallNeeds,
  all: Breakers,
) => {
  const breakerOf = all.of
  const { saw } = observed(observers, log)
  const untraced = { clock, random, retries: routing.retries, hedges: hedges(routing.hedge), breakerOf, saw }
  const searching = (): FailoverNeeds => {
    const trace = traceOf?.() ?? null
    return trace === null ? untraced : { ...untraced, trace }
  }
  const weighing = {
    fraction: () => random.fraction(),
    isOpen: ({ id }: Pick<Candidate, 'id'>) => breakerOf(id).rest(clock.now()) > 0,
  }
  // A broken route for counts says nothing of the backend's chats.
  const countBreakers = breakers(routing.breaker)
  return {
    saw,
    timeouts,
    routing,
    clock,
    breakerOf,
    isOpen: weighing.isOpen,
    searching,
    /** What is seen of a stream that broke, in its trace too. */
    sawStream:
      ({ trace }: FailoverNeeds, request: string | undefined): Saw =>
      (provider, outcome, ms, status, attempt) => {
        saw(provider, outcome, ms, status, { ...attempt, request })
        trace?.broke(provider, status)
      },
    order: <A extends Ability>({ entry, provider, affinity }: TaskOptions, ability: A) =>
      orderBackends({ entry, ability, provider: provider ?? null, affinity: affinity ?? null }, weighing),
    /** A count is no answer, so no observer takes its time for one. */
    searchingCount: (): FailoverNeeds => ({
      ...searching(),
      retries: 0,
      hedges: hedges(null),
      breakerOf: countBreakers.of,
      saw: () => undefined,
    }),
  }
}

type Shared = ReturnType<typeof shared>

/** What became of a chat before it comes here: an attempt that failed, or a stream that broke. */
export interface Before {
  readonly candidate: Candidate<'chat'>
  readonly fault: unknown
  /** When the call began, by the clock. */
  readonly began: number
  /** The stream that the caller has so far; absent before its first token. */
  readonly stream?: Pick<StreamPlan, 'live' | 'given'> & { readonly unfinished: number }
}

/** The calls of one generation, for chats that make their first attempt by themselves. */
export interface StraightCalls {
  /** What all calls share. */
  readonly shared: Shared
  /** The request as this backend gets it. */
  fitted(task: Pick<ChatTask, 'body' | 'fit' | 'organization'>, candidate: Candidate<'chat'>): FittedRequest
  /** As `chat` of `Calls`; goes on behind what became of the call before. */
  chat(task: ChatTask & { readonly stream: true }, signal: AbortSignal, before: Before | null): Promise<Served<Chunks>>
  chat(task: ChatTask & { readonly stream: false }, signal: AbortSignal, before: Before | null): Promise<Served<Whole>>
}

/**
 * Runs one search to its end. An abort of the signal ends every attempt, and the promise rejects with its
 * reason.
 */
const settle = async <T, A extends Ability>(
  plan: Plan<T, A>,
  signal: AbortSignal,
  needs: FailoverNeeds,
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

/** A whole answer. A backend that streams all the same is collected here, so callers see no difference. */
const whole = async (
  { timeouts, order, searching }: Shared,
  task: ChatTask,
  signal: AbortSignal,
  before: Before | null = null,
): Promise<Served<Whole>> => {
  const { total = timeouts.total } = task
  const tried: string[] = before === null ? [] : [before.candidate.provider]
  const plan: Plan<Whole, 'chat'> = {
    order: from(largeEnough(order(task, 'chat'), task.body), before),
    ...(before !== null && { before }),
    total,
    each: total,
    tries: task.tries ?? null,
    request: task.request,
    async ask(candidate, signal) {
      const { upstream, model, provider } = candidate
      const tries = triesBefore(task, tried)
      tried.push(provider)
      const answer = await upstream.chat({ model, ...fittedRequest(task, candidate), stream: false, tries }, signal)
      return answer.kind === 'completion'
        ? answer
        : { ...provenBy(answer), kind: 'completion', completion: await collectChunks(answer.chunks) }
    },
  }
  const { answer, candidate, controller } = await settle(plan, signal, searching())
  returnController(controller)
  const { completion } = answer
  return {
    answer,
    backend: candidate.provider,
    by: candidate.id,
    ...provenBy(answer),
    usage: completion.usage ?? null,
    size: sizeOf(completion),
    tried,
    notes: [],
  }
}

/**
 * A stream that is not connected yet. `live` is the answer and its facts in one object, which the stream
 * keeps up to date.
 */
const stream = async (
  common: Shared,
  task: ChatTask,
  signal: AbortSignal,
  before: Before | null = null,
): Promise<Served<Chunks>> => {
  const { timeouts, routing, clock, breakerOf } = common
  const { entry, body, patience, total = patience ?? timeouts.total } = task
  const candidates = from(largeEnough(common.order(task, 'chat'), body), before)
  const given = before?.stream === undefined ? continuable(entry, body) : before.stream.given
  const needs = common.searching()
  const tried = before === null ? [] : [before.candidate.provider]
  const live: StreamState = before?.stream?.live ?? { backend: null, usage: null, size: 0, tried, notes: [] }

  const search = (broken: BrokenStream | null): Search<OpenedStream, 'chat'> =>
    askInTurn(needs, {
      ...(broken === null && before !== null && before.stream === undefined && { before }),
      streams: true,
      rescues: broken !== null,
      tries: task.tries ?? null,
      request: task.request,
      order: broken === null ? candidates : startingBehind(candidates, broken.candidate),
      total: broken === null ? total : timeouts.firstToken,
      each: timeouts.firstToken,
      patient: broken === null && patience !== undefined,
      async ask(candidate, signal) {
        const { upstream, model, provider } = candidate
        const call = { model, stream: true, tries: triesBefore(task, live.tried) }
        live.tried.push(provider)
        const { body, native, ...own } = fittedRequest(task, candidate)
        // A call that goes on from a prefix is no request of the caller's any more.
        const going =
          broken === null
            ? { body, ...(native && { native }) }
            : { body: continuationBody(broken.given, body), prefix: broken.given.text }
        const answer = await upstream.chat({ ...call, ...own, ...going }, signal)
        const chunks = answer.kind === 'chunks' ? answer.chunks : chunksOfCompletion(answer.completion)
        return { ...(await openStream(chunks)), ...provenBy(answer) }
      },
      drop: ({ source }) => leaveQuietly(source),
      told: (backend, attempt) => live.notes.push(`attempt ${attempt} by ${backend}`),
    })

  const chunks = resilientStream({
    clock,
    signal,
    live,
    given,
    search,
    breakerOf,
    saw: common.sawStream(needs, task.request),
    idle: timeouts.idle,
    longest: timeouts.stream,
    rescues: Math.max(1, routing.retries),
    choices: before?.stream?.unfinished ?? choicesOf(body),
    ...(before?.stream && { broken: { candidate: before.candidate, fault: before.fault } }),
  })
  return Object.assign(live, { answer: { kind: 'chunks', chunks } as const })
}

/** Null where the backend whose turn it is does not count: another backend would count other tokens. */
const count = async (
  { timeouts, order, isOpen, searchingCount }: Shared,
  task: CountTask,
  signal: AbortSignal,
): Promise<TokenCount | null> => {
  const able = countersFirst(largeEnough(order(task, 'chat'), task.body), isOpen)
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
}

/** The calls of one generation. All of them have these breakers. */
export const callsOf = (needs: CallNeeds, all: Breakers): Calls & StraightCalls => {
  const common = shared(needs, all)
  const { timeouts, routing, clock, order, searching } = common
  const planOf = <T, A extends Ability>(task: Task<A>, ask: Plan<T, A>['ask']): Plan<T, A> => {
    const { ability, total = timeouts.total, tries = null, request } = task
    return { order: order(task, ability), total, each: total, tries, request, ask }
  }
  return {
    async run(task, ask, signal) {
      const plan = planOf(task, async (...request) => ask(...request))
      const { answer, candidate, controller } = await settle(plan, signal, searching())
      returnController(controller)
      return { answer, backend: candidate.provider, by: candidate.id }
    },
    async stream(task, ask, signal) {
      const plan = planOf(task, async (...request) => onceBegun(await ask(...request)))
      const { answer, candidate, controller } = await settle({ ...plan, streams: true }, signal, searching())
      const bounds = { clock, idle: timeouts.idle, longest: timeouts.stream }
      return { answer: withEnds(answer, controller, signal, bounds), backend: candidate.provider, by: candidate.id }
    },
    shared: common,
    fitted: (task, candidate) =>
      fittedRequest(routing.promptCaches === 'shared' ? task : withOwnCaches(task), candidate),
    chat: ((asking: ChatTask, signal: AbortSignal, before: Before | null = null) => {
      const task = routing.promptCaches === 'shared' ? asking : withOwnCaches(asking)
      return task.stream ? stream(common, task, signal, before) : whole(common, task, signal, before)
    }) as Calls['chat'],
    count: (task, signal) => count(common, task, signal),
  }
}

/** Tries before the next one, those of the caller and those of this search. */
const triesBefore = ({ tries }: TaskOptions, tried: readonly string[]): number =>
  (typeof tries === 'number' ? tries : 0) + tried.length

/** The same order, with the one in front that was asked before. */
const from = (all: readonly Candidate<'chat'>[], before: Before | null): readonly Candidate<'chat'>[] => {
  const first = before?.candidate ?? all[0]
  return first === undefined || all[0] === first ? all : [first, ...all.filter((candidate) => candidate !== first)]
}

/** Ms for the counts of all backends together: an estimate is there at once. */
const longestCount = 5_000

/** Names the organisation's own part of the prompt cache in the common body and in every fitted one. */
const withOwnCaches = <T extends Pick<ChatTask, 'body' | 'fit' | 'organization'>>(task: T): T => {
  const { fit, organization = null } = task
  const body = withOwnCache(task.body, organization)
  if (body === task.body) return task
  if (fit === undefined) return { ...task, body }
  const own = ({ body, native }: FittedRequest): FittedRequest => ({
    body: withOwnCache(body, organization),
    ...(native && { native: { ...native, body: withOwnCache(native.body, organization) } }),
  })
  return { ...task, body, fit: (dialect) => own(fit(dialect)) }
}

/** The request in the dialect of this backend, or else in the common format. */
const fittedRequest = (
  task: Pick<ChatTask, 'body' | 'fit' | 'beside'>,
  candidate: Candidate<'chat'>,
): FittedRequest => {
  const { body, native }: FittedRequest = task.fit?.(dialectOf(candidate)) ?? { body: task.body }
  const own = takenBy(candidate.upstream, task.beside)
  return native === undefined ? { body, ...own } : { body, native, ...own }
}

/** What the backend takes of what came beside the call. */
const takenBy = ({ takes }: Pick<Upstream, 'takes'>, beside: ChatCall['beside']): Pick<ChatCall, 'beside'> => {
  if (beside === undefined || takes === undefined) return {}
  return { beside: Object.fromEntries(Object.entries(beside).filter(([name]) => takes.includes(name))) }
}

/** The candidates in the order in which they are asked after one broke: that candidate comes last. */
const startingBehind = <C>(candidates: readonly C[], after: C): readonly C[] => {
  const at = candidates.indexOf(after)
  return [...candidates.slice(at + 1), ...candidates.slice(0, at + 1)]
}

/** Characters of texts, thoughts and what tools are called with. The guess of an uncounted output rests on them. */
export const sizeOf = ({ choices }: Completion): number => {
  let size = 0
  for (const { message } of choices) {
    const { content, reasoning_content: thoughts, tool_calls: calls } = message
    size += lengthOf(content) + lengthOf(thoughts) + (calls == null ? 0 : callSize(calls))
  }
  return size
}

const lengthOf = (text: unknown): number => (typeof text === 'string' ? text.length : 0)
