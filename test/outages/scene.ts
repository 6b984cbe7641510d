import { setTimeout as sleep } from 'node:timers/promises'
import type { Family } from './families.ts'
import type { Answer, Load } from './load.ts'
import type { Stage } from './stage.ts'

/** What a family may be answered with beside 200 while something is away. */
export type Declared = Partial<Record<Family, readonly number[]>>

export interface Scene {
  readonly name: string
  /** Whether `npm test` leaves it to `npm run night`; another scene shows the same promise. */
  readonly atNight?: boolean
  /** Ms that it lasts. */
  readonly lasting: number
  begin(stage: Stage): unknown
  /** Resolves when all is there again. */
  end(stage: Stage): unknown
  /** By the name of a load. */
  readonly declared: Readonly<Record<string, Declared>>
  /** Ms that it may add to the time of a request. */
  readonly added: number
  /** Ms from the end until everything is 200 again. */
  readonly recovery: number
}

export interface Seen {
  readonly requests: number
  /** Of all that were begun or still under way during the outage. */
  readonly codes: string
  /** Ms, median and 99th of a hundred: without an outage, and during it. */
  readonly before: readonly [number, number]
  readonly during: readonly [number, number]
  /**
   * Ms that a request took longer than is usual for its family, median, 95th and 99th of a hundred, beyond what those
   * are without an outage, and what they are at the same time for requests that need nothing of what may be away.
   */
  readonly added: readonly [number, number, number]
  /** Ms of the longest answer to a request that needs nothing of what may be away: how long the machine stood still. */
  readonly stall: number
  readonly longest: number
  /** Ms. */
  readonly recovery: number
  /** Answers that were not declared, or are not what they should be. */
  readonly wrong: readonly string[]
  /** Refusals that were not declared, of calls during which the machine itself stood still. */
  readonly excused: number
}

/** Ms without a bad answer after which all counts as well again. */
const well = 800
/** Ms without an answer to `live` after which the machine, and no outage, explains that a call's time was over. */
const still = 500
/** Ms beyond the recovery of a scene in which calls that came in time may still end. */
export const slack = 1_500

export const at = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0

/** Plays one scene after another under these loads; what is usual is learnt between them. */
export const playing = (stage: Stage, loads: Readonly<Record<string, Load>>, since: number) => {
  const names = Object.keys(loads)
  const usual = new Map(names.map((name) => [name, [] as Answer[]]))
  let calmSince = since

  const settled = async (back: number, recovery: number) => {
    for (const until = back + recovery + slack; performance.now() < until; await sleep(20)) {
      const now = performance.now()
      const quiet = Object.values(loads).every(({ answers, oldest }) => {
        const bad = answers.findLast(({ code }) => code !== 200)
        const last = bad === undefined ? back : Math.max(back, bad.began + bad.ms)
        return now - last > well && now - (oldest() ?? now) < well
      })
      if (quiet) return
    }
  }

  return async (scene: Scene): Promise<Seen> => {
    const began = performance.now()
    await scene.begin(stage)
    await sleep(scene.lasting - (performance.now() - began))
    await scene.end(stage)
    const back = performance.now()
    await settled(back, scene.recovery)
    const over = performance.now()

    const wrong: string[] = []
    const concerned: Answer[] = []
    const [before, during]: [number[], number[]] = [[], []]
    const more: Readonly<Record<'before' | 'during' | 'beside', number[]>> = { before: [], during: [], beside: [] }
    let [recovery, excused] = [0, 0]
    const live = names.flatMap((name) => loads[name]!.answers.filter(({ family }) => family === 'live'))
    const stallOf = (from: number, to: number) =>
      Math.max(0, ...live.filter((answer) => answer.began < to && answer.began + answer.ms > from).map(({ ms }) => ms))
    const stall = stallOf(began, over)
    for (const name of names) {
      const all = loads[name]!.answers
      const calm = usual.get(name)!
      calm.push(...all.filter(({ began: value, ms }) => value >= calmSince && value + ms < began))
      const beyond = beyondUsual(calm)
      before.push(...calm.map(({ ms }) => ms))
      more.before.push(...calm.map(beyond))
      for (const answer of all.filter(({ began: value, ms }) => value + ms >= began && value < over)) {
        const { family, code, flaw, began: value, ms } = answer
        const allowed = value < back + scene.recovery + stall && (scene.declared[name]?.[family] ?? []).includes(code)
        const when = `${((value - began) / 1000).toFixed(1)} s, ${Math.round(ms)} ms`
        const isRefused = code === 502 || code === 503
        if (isRefused && !allowed && flaw === null && stallOf(value, value + ms) > still) excused++
        else if (flaw !== null || (code !== 200 && !allowed))
          wrong.push(`${name} ${family}: ${code} ${flaw ?? ''} (${when})`)
        if (value >= back && code !== 200) recovery = Math.max(recovery, value + ms - back)
        if (value >= back) continue
        concerned.push(answer)
        during.push(ms)
        more[family === 'live' ? 'beside' : 'during'].push(beyond(answer))
      }
    }
    const noise = (share: number) => Math.max(at(more.before, share), at(more.beside, share))
    const added = (share: number) => at(more.during, share) - noise(share)
    calmSince = Math.max(back, over - well)
    const stuck = names.filter((name) => over - (loads[name]!.oldest() ?? over) > well + stall)
    wrong.push(...stuck.map((name) => `${name}: a call hangs`))
    return {
      requests: concerned.length,
      codes: tallied(concerned),
      before: [at(before, 0.5), at(before, 0.99)],
      during: [at(during, 0.5), at(during, 0.99)],
      added: [added(0.5), added(0.95), added(0.99)],
      stall,
      longest: Math.max(0, ...during),
      recovery,
      wrong,
      excused,
    }
  }
}

/** Ms that an answer took longer than the median of its family. */
const beyondUsual = (calm: readonly Answer[]) => {
  const medians = new Map<Family, number>()
  for (const { family } of calm) {
    if (medians.has(family)) continue
    const times = calm.filter((answer) => answer.family === family).map(({ ms }) => ms)
    medians.set(family, at(times, 0.5))
  }
  return ({ family, ms }: Answer) => ms - (medians.get(family) ?? 0)
}

const tallied = (answers: readonly Answer[]): string => {
  const counts = new Map<number, number>()
  for (const { code } of answers) counts.set(code, (counts.get(code) ?? 0) + 1)
  return [...counts]
    .sort()
    .map(([code, count]) => `${count} × ${code}`)
    .join(', ')
}

export const told = ({ requests, codes, before, during, added, longest, recovery, stall, excused }: Seen): string => {
  const ms = (...times: readonly number[]) => `${times.map((time) => time.toFixed(0)).join('/')} ms`
  return (
    `${requests} requests (${codes}); p50/p99 ${ms(...before)} before, ${ms(...during)} during; ` +
    `p50/p95/p99 ${ms(...added)} added, the longest ${ms(longest)}; well again after ${ms(recovery)}; ` +
    `the machine stood still for ${ms(stall)}${excused > 0 ? `, which excuses ${excused} refusals` : ''}`
  )
}
