import { setTimeout as sleep } from 'node:timers/promises'
import { ask, call, type Target } from './client.ts'
import { slowness } from '../slowness.ts'
import { answer, lively } from './plays.ts'
import type { FaultyProvider } from './provider.ts'
import type { Sight } from './tongues.ts'
import { until } from '../until.ts'

/** `partial`: right in the main, a side condition missed. `safe`: not delivered, and honestly said so. */
export type Mark = 'pass' | 'partial' | 'safe' | 'fail'

export interface Verdict {
  readonly mark: Mark
  readonly note: string
}

export interface Stage {
  readonly target: Target
  readonly provider: FaultyProvider
  /** Stretches or shrinks every wait. */
  readonly pace: number
  /** Ms after which a reader that takes nothing must be cut. */
  readonly stalled: number
}

export interface Scene {
  readonly name: string
  readonly title: string
  /** Whether the model's backends can go on from a prefix. */
  readonly continues?: true
  /** A backend that refuses connections comes first. */
  readonly refused?: true
  /** The backend or the reader is silent for a time that the gateway limits. */
  readonly silent?: true
  play(stage: Stage): Promise<Verdict>
}

const pass: Verdict = { mark: 'pass', note: '' }
const verdict = (mark: Mark, note: string): Verdict => ({ mark, note })

/** Ms of a quiet machine after which a call counts as hung. */
export const patience = (pace: number) => 5_000 + 85_000 * pace

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

const asking = (stream: boolean, also?: (sight: Sight, stage: Stage, conversation: string) => Verdict | null) =>
  async function (this: Scene, stage: Stage): Promise<Verdict> {
    const conversation = `${this.name} ${stream} ${Math.random()}`
    const seen = stage.provider.seen(conversation)
    const heard = (comments: number) => void (seen.comments = comments)
    const sight = await call(stage.target, this.name, conversation, stream, patience(stage.pace), heard)
    const main = complete(sight, this.name)
    if (sight.raw.includes('secret words')) return verdict('fail', 'told the backend’s own words')
    return main.mark === 'pass' ? (also?.(sight, stage, conversation) ?? pass) : main
  }

/** The worst of the same scene as a stream and whole. */
const both = (also?: Parameters<typeof asking>[1]) =>
  async function (this: Scene, stage: Stage): Promise<Verdict> {
    const verdicts = await Promise.all([asking(true, also).call(this, stage), asking(false, also).call(this, stage)])
    return verdicts.sort((a, b) => order.indexOf(b.mark) - order.indexOf(a.mark))[0]!
  }

const order: readonly Mark[] = ['pass', 'partial', 'safe', 'fail']

/** Leaves as told and looks how long the backend was kept. */
const leaving = (stream: boolean, leave: (stage: Stage, left: Awaited<ReturnType<typeof ask>>) => Promise<number>) =>
  async function (this: Scene, stage: Stage): Promise<Verdict> {
    const conversation = `${this.name} ${Math.random()}`
    const seen = stage.provider.seen(conversation)
    const it = await ask(stage.target, this.name, conversation, stream)
    if (!(await until(() => seen.calls > 0, 5000 * slowness()))) return verdict('fail', 'the backend was never asked')
    const most = await leave(stage, it)
    const left = Date.now()
    await until(() => seen.left !== null, (most + 5000) * slowness())
    it.socket.destroy()
    if (seen.left === null) return verdict('fail', 'the backend was never let go')
    // A busy machine tells a provider late that somebody has gone.
    const ms = seen.left - left
    if (ms / slowness() > most) return verdict('partial', `the backend was let go after ${ms} ms`)
    await sleep(300)
    if (seen.calls > 1) return verdict('fail', 'the backend was asked again for nobody')
    if (seen.sent > 64 * 1024 * 1024) return verdict('fail', `${seen.sent} bytes were read for a reader that took none`)
    return verdict('pass', ms < 0 ? '' : `${ms} ms`)
  }

const gone = async (it: Awaited<ReturnType<typeof ask>>) => {
  it.socket.destroy()
  return 1000
}

export const scenes: readonly Scene[] = [
  {
    name: 'S01',
    title: '429 with Retry-After',
    play: both((_, { provider }, conversation) => {
      const [first = 0, second = 0] = provider.seen(conversation).at
      return second - first >= 950 ? null : verdict('partial', `asked again after ${second - first} ms`)
    }),
  },
  { name: 'S02', title: '500, then fine', play: both() },
  { name: 'S03', title: '503 in a burst', play: both() },
  { name: 'S04', title: 'connection refused', refused: true, play: both() },
  { name: 'S05', title: 'reset before headers', play: both() },
  { name: 'S06', title: 'accepts and stays silent', silent: true, play: asking(true) },
  {
    name: 'S07',
    title: 'first token after 20 s',
    silent: true,
    play: asking(true, (sight) =>
      sight.comments >= lively ? null : verdict('partial', `${sight.comments} signs of life before the first token`),
    ),
  },
  { name: 'S08', title: 'cut in the middle', continues: true, play: asking(true) },
  { name: 'S09', title: 'stalls 30 s in the middle', continues: true, silent: true, play: asking(true) },
  { name: 'S10', title: 'one malformed event', continues: true, play: asking(true) },
  { name: 'S11', title: 'error event inside a 200 stream', continues: true, play: asking(true) },
  { name: 'S12', title: 'wrong content-length', play: asking(false) },
  {
    name: 'S13',
    title: 'content filter',
    async play({ target, pace }) {
      const sight = await call(target, this.name, `S13 ${Math.random()}`, true, patience(pace))
      if (sight.broken) return verdict('fail', 'the connection broke or hung')
      if (sight.error !== null) return verdict('safe', 'told as an error')
      if (!sight.done || !answer.startsWith(sight.text) || sight.text === '')
        return verdict('fail', 'not what the backend gave')
      return sight.finish === 'content_filter' ? pass : verdict('fail', 'told as a whole answer')
    },
  },
  {
    name: 'S14',
    title: 'cut, and the backend cannot continue',
    async play({ target, pace }) {
      const sight = await call(target, this.name, `S14 ${Math.random()}`, true, patience(pace))
      if (sight.done || (sight.error === null && !sight.broken))
        return verdict('fail', 'a cut answer was told as whole')
      if (sight.raw.includes('secret words')) return verdict('fail', 'told the backend’s own words')
      if (sight.broken || sight.text === '') return verdict('safe', 'broke without a word')
      if (!target.tongue.breaks(sight.last))
        return verdict('fail', 'the break was not told in the words of the dialect')
      return answer.startsWith(sight.text) ? pass : verdict('fail', 'other text than the backend gave')
    },
  },
  { name: 'S15', title: 'whole body cut', play: asking(false) },
  { name: 'S16', title: 'slow dribble of odd bytes', play: asking(true) },
  {
    name: 'C01',
    title: 'leaves before the first token',
    play: leaving(true, async (_, it) => (await sleep(200), gone(it))),
  },
  {
    name: 'C02',
    title: 'leaves in the middle',
    play: leaving(true, async (_, it) => {
      while (it.read() < 2000) await sleep(10)
      return gone(it)
    }),
  },
  {
    name: 'C03',
    title: 'stalls, then leaves',
    silent: true,
    play: leaving(true, async ({ stalled }, it) => {
      it.socket.pause()
      await sleep(stalled / 3)
      return gone(it)
    }),
  },
  {
    name: 'C04',
    title: 'half-open socket',
    silent: true,
    play: leaving(true, async ({ stalled }, it) => {
      it.socket.pause()
      return stalled + 5000
    }),
  },
  {
    name: 'C05',
    title: 'leaves during a whole call',
    play: leaving(false, async (_, it) => (await sleep(200), gone(it))),
  },
]
