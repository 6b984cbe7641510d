import { setTimeout as sleep } from 'node:timers/promises'
import type { Mark } from '../../plugins/surfaces/admin/drill.ts'
import { type Leaving, type Patience, type Target, ask, call } from './client.ts'
import { lively } from './plays.ts'
import type { FaultyProvider } from './provider.ts'
import { type SceneHead, type SceneName, sceneList } from './scene-list.ts'
import type { Sight } from './tongue.ts'
import { until } from './until.ts'
import { answer } from './written-answer.ts'

/** A note tells why a mark is less than a pass. Beside a pass, the note is empty or a measured time. */
export interface Verdict {
  readonly mark: Mark
  readonly note: string
}

/** Everything that a scene may touch; all scenes of an act share one stage. */
export interface Stage extends Patience {
  readonly target: Target
  readonly provider: FaultyProvider
  /** Stretches or shrinks every wait. */
  readonly pace: number
  /** Ms after which a reader that takes nothing must be cut. */
  readonly stalled: number
}

/** What a scene came to. */
export interface Played extends Verdict {
  /** What the caller saw; null where the caller left. */
  readonly sight: Sight | null
  /** Calls of backends. */
  readonly attempts: number
}

type Play = (name: SceneName, stage: Stage) => Promise<Played>

export interface Scene extends SceneHead {
  /** A rejection counts as a fail, and so does a play without an end. */
  play(stage: Stage): Promise<Played>
}

const pass: Verdict = { mark: 'pass', note: '' }
const verdict = (mark: Mark, note: string): Verdict => ({ mark, note })

/** The whole answer and nothing else, by the end mark. */
const complete = (sight: Sight, model: string): Verdict => {
  if (sight.broken) return verdict('fail', 'the connection broke or hung')
  if (sight.garbled) return verdict('fail', 'an event that is no JSON')
  if (sight.error !== null) {
    if (sight.done && sight.status === 200) return verdict('fail', 'an error and an end mark')
    return verdict(
      answer.startsWith(sight.text) ? 'safe' : 'fail',
      `an error was told after ${sight.text.length} characters`,
    )
  }
  if (sight.text !== answer) return verdict('fail', `${sight.text.length} of ${answer.length} characters, or others`)
  if (!sight.done) return verdict('fail', 'no end mark')
  if (sight.finish !== 'stop') return verdict('partial', 'no finish reason')
  if (sight.models.size !== 1 || !sight.models.has(model)) return verdict('partial', 'another model name')
  return pass
}

type Judge = (sight: Sight, name: SceneName, stage: Stage, conversation: string) => Verdict

/** One call, read to its end, and judged. */
const calling =
  (stream: boolean, judge: Judge): Play =>
  async (name, stage) => {
    const conversation = `${name} ${stream} ${Math.random()}`
    const seen = stage.provider.seen(conversation)
    const heard = (comments: number): void => void (seen.comments = comments)
    const asking = () => call(stage.target, name, conversation, stream, stage, heard)
    const first = await asking()
    // The gateway answers at once for a full backend, and the caller comes again at the time that the answer names.
    const wait = first.status === 429 ? first.retryAfter : null
    if (wait !== null) await sleep(wait)
    const sight = wait === null ? first : await asking()
    const told = sight.raw.includes('secret words')
    const judged = told ? verdict('fail', 'told the backend’s own words') : judge(sight, name, stage, conversation)
    return { ...judged, sight, attempts: seen.calls }
  }

type SideCondition = (sight: Sight, stage: Stage, conversation: string) => Verdict | null

/** The whole answer is demanded, and `also` on top of it. */
const asking = (stream: boolean, also?: SideCondition): Play =>
  calling(stream, (sight, name, stage, conversation) => {
    const main = complete(sight, name)
    return main.mark === 'pass' ? (also?.(sight, stage, conversation) ?? pass) : main
  })

/** From the best to the worst. */
const order: readonly Mark[] = ['pass', 'partial', 'safe', 'fail']

/** The worse of the same scene as a stream and whole. */
const both =
  (also?: SideCondition): Play =>
  async (name, stage) => {
    const [streamed, whole] = await Promise.all([asking(true, also)(name, stage), asking(false, also)(name, stage)])
    return order.indexOf(whole.mark) > order.indexOf(streamed.mark) ? whole : streamed
  }

/** Ms that the backend may be kept, and how many ms of the scene each of them stands for. */
interface Leave {
  readonly most: number
  readonly per: number
}

const timeOf = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`)

/** Leaves as told and looks how long the backend was kept. */
const leaving =
  (stream: boolean, leave: (stage: Stage, left: Leaving) => Promise<Leave>): Play =>
  async (name, stage) => {
    const conversation = `${name} ${Math.random()}`
    const seen = stage.provider.seen(conversation)
    const over = ({ mark, note }: Verdict): Played => ({ mark, note, sight: null, attempts: seen.calls })
    const leaving = await ask(stage.target, name, conversation, stream)
    if (!(await until(() => seen.calls > 0, 5000 * stage.slow())))
      return over(verdict('fail', 'the backend was never asked'))
    const { most, per } = await leave(stage, leaving)
    const [left, before] = [Date.now(), seen.calls]
    // The machine may be busy while the caller leaves, and quiet when the provider tells when that was.
    const slow = stage.slow()
    await until(() => seen.left !== null, (most + 5000) * slow)
    leaving.socket.destroy()
    if (seen.left === null) return over(verdict('fail', 'the backend was never let go'))
    // A busy machine tells a provider late that a caller has gone.
    const ms = seen.left - left
    const told = `the backend was let go after ${timeOf(ms / per)}`
    if (ms / Math.max(slow, stage.slow()) > most) return over(verdict('partial', told))
    await sleep(300)
    if (seen.calls > before) return over(verdict('fail', 'the backend was asked again for nobody'))
    if (seen.sent > 64 * 1024 * 1024)
      return over(verdict('fail', `${seen.sent} bytes were read for a reader that took none`))
    return over(verdict('pass', ms < 0 ? '' : told))
  }

/** A caller that closes its socket must free the backend within 1 s. */
const gone = ({ socket }: Leaving): Leave => {
  socket.destroy()
  return { most: 1000, per: 1 }
}

/** The backends of these scenes never answer, so 200 ms always lie before the first token. */
const leavingEarly = (stream: boolean): Play =>
  leaving(stream, async (_, leaving) => {
    await sleep(200)
    return gone(leaving)
  })

/**
 * An answer that a content filter has ended must say so; told as whole, its caller would trust a cut text.
 */
const filtered: Judge = (sight) => {
  if (sight.broken) return verdict('fail', 'the connection broke or hung')
  if (sight.error !== null) return verdict('safe', 'told as an error')
  if (!sight.done || !answer.startsWith(sight.text) || sight.text === '')
    return verdict('fail', 'not what the backend gave')
  return sight.finish === 'content_filter' ? pass : verdict('fail', 'told as a whole answer')
}

/** Where no backend can go on, the words so far stay, and the dialect tells of the break. */
const cutForGood: Judge = (sight, _, { target }) => {
  if (sight.done || (sight.error === null && !sight.broken)) return verdict('fail', 'a cut answer was told as whole')
  if (sight.broken || sight.text === '') return verdict('safe', 'broke without a word')
  if (!target.tongue.breaks(sight.last)) return verdict('fail', 'the break was not told in the words of the dialect')
  return answer.startsWith(sight.text) ? pass : verdict('fail', 'other text than the backend gave')
}

/** The backend asked for a pause; another one may be asked at once. */
const obeysRetryAfter: SideCondition = (_, { provider }, conversation) => {
  const [first, ...later] = provider.seen(conversation).at
  const second = later.find(({ path }) => path === first?.path)
  if (first === undefined || second === undefined || second.ms - first.ms >= 950) return null
  return verdict('partial', `asked again after ${second.ms - first.ms} ms`)
}

/** Comments in the stream keep callers and proxies from giving up while the first token is late. */
const isLively: SideCondition = ({ comments }) =>
  comments >= lively ? null : verdict('partial', `${comments} signs of life before the first token`)

const plays: Readonly<Record<SceneName, Play>> = {
  S01: both(obeysRetryAfter),
  S02: both(),
  S03: both(),
  S04: both(),
  S05: both(),
  S06: asking(true),
  S07: asking(true, isLively),
  S08: asking(true),
  S09: asking(true),
  S10: asking(true),
  S11: asking(true),
  S12: asking(false),
  S13: calling(true, filtered),
  S14: calling(true, cutForGood),
  S15: asking(false),
  S16: asking(true),
  C01: leavingEarly(true),
  C02: leaving(true, async (_, leaving) => {
    while (leaving.read() < 2000) await sleep(10)
    return gone(leaving)
  }),
  C03: leaving(true, async ({ stalled }, leaving) => {
    leaving.socket.pause()
    await sleep(stalled / 3)
    return gone(leaving)
  }),
  C04: leaving(true, async ({ stalled, pace }, leaving) => {
    leaving.socket.pause()
    return { most: stalled + 5000, per: pace }
  }),
  C05: leavingEarly(false),
}

/** In the order of the list. Results come in another order, since the scenes of an act play at once. */
export const scenes: readonly Scene[] = sceneList.map((head) => ({
  ...head,
  play: (stage) => plays[head.name](head.name, stage),
}))
