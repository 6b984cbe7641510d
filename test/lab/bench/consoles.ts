import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, chromium } from 'playwright-core'
import { executablePath, withoutChromium } from '../../fakes/chromium.ts'
import { until } from '../../until.ts'
import { type Subject, start } from './measure.ts'
import { type Call, calling, paced } from './pace.ts'

const key = `sk_live_${'2'.repeat(44)}`
const tabs = 50
/** Keys and teams that the gateway has. */
const [keys, teams] = [10_000, 500]
/** Requests a second. */
const rate = 200
/** With consoles, the p99 may be so many ms more than alone. */
const mostMore = 5
/** Times of each view, and how much slower its processor is made for the second row. */
const [views, slower] = [3, 4]
/** Ms of each view on this processor, and of the first one on the slower one. */
const [mostFirst, mostSlow] = [500, 1_000]

export interface ConsoleTurns {
  /** Of each turn. */
  readonly seconds: number
  readonly rounds: number
}

interface Seen {
  readonly listening: number
  readonly batches: number
  readonly requests: number
  readonly readings: number
  readonly refused: number
}

const asked = async (child: ChildProcess): Promise<Seen> => {
  child.send('seen')
  const [seen] = (await once(child, 'message')) as [Seen]
  return seen
}

/** So many open consoles in a process of their own, once all of them listen. */
const opened = async (base: string) => {
  const child = fork(new URL('./console-tabs.js', import.meta.url), {
    env: { ...process.env, BASE: base, KEY: key, TABS: String(tabs) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  if (!(await until(async () => (await asked(child)).listening === tabs, 60_000, 200)))
    throw new Error('not all consoles listen')
  return {
    seen: () => asked(child),
    async close() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0

interface Turn {
  /** Ms that 99 of 100 calls do not pass. */
  readonly p99: number
  /** Microseconds of the gateway's CPU a request, all that it does meanwhile included. */
  readonly cpu: number
}

const turn = async (subject: Subject, call: Call, seconds: number): Promise<Turn> => {
  const times: number[] = []
  const timed = async (): Promise<void> => {
    const began = performance.now()
    await call()
    times.push(performance.now() - began)
  }
  const before = await subject.cpu()
  const calls = await paced(timed, rate, rate * seconds)
  const cpu = ((await subject.cpu()) - before) / calls
  return {
    p99: quantile(
      times.toSorted((one, other) => one - other),
      0.99,
    ),
    cpu,
  }
}

interface Pair {
  readonly alone: Turn
  readonly watched: Turn
  readonly seen: Seen
}

const round = async (subject: Subject, call: Call, seconds: number, aloneFirst: boolean): Promise<Pair> => {
  const watch = async () => {
    const consoles = await opened(subject.base)
    try {
      const watched = await turn(subject, call, seconds)
      return { watched, seen: await consoles.seen() }
    } finally {
      await consoles.close()
    }
  }
  if (aloneFirst) return { alone: await turn(subject, call, seconds), ...(await watch()) }
  const first = await watch()
  // What the listeners leave behind is over.
  await sleep(1_000)
  return { alone: await turn(subject, call, seconds), ...first }
}

const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((one, other) => one - other),
    0.5,
  )

const full = (upstream: Subject): Promise<Subject> =>
  start('sealgate-chat', { UPSTREAM: upstream.base, KEY: key, KEYS: String(keys), TEAMS: String(teams) })

const served = async ({ seconds, rounds }: ConsoleTurns): Promise<readonly string[]> => {
  const upstream = await start('upstream')
  const subject = await full(upstream)
  const messages = [{ role: 'user', content: 'Say words.' }]
  const { call, close } = calling(
    `${subject.base}/v1/chat/completions`,
    key,
    JSON.stringify({ model: 'bench', messages }),
  )
  try {
    await paced(call, rate, rate * 5)
    const pairs: Pair[] = []
    // With and without consoles in turn, and each of them first as often.
    for (let at = 0; at < rounds; at++) pairs.push(await round(subject, call, seconds, at % 2 === 0))
    const more = median(pairs.map(({ alone, watched }) => watched.p99 - alone.p99))
    const spent = median(pairs.map(({ alone, watched }) => watched.cpu - alone.cpu))
    return [
      `p99 of serving ${rate} requests a second with ${tabs} consoles, ${keys} keys and ${teams} teams: ` +
        `${more.toFixed(1)} ms more than alone, and ${((spent * rate) / 10_000).toFixed(1)} % of a processor ` +
        `(median of ${rounds} pairs of ${seconds} s; at most ${mostMore} ms: ${more <= mostMore ? 'kept' : 'BEYOND'})`,
      ...pairs.map(
        ({ alone, watched, seen }) =>
          `alone ${alone.p99.toFixed(1)} ms and ${alone.cpu.toFixed(0)} µs of CPU a request, watched ${watched.p99.toFixed(1)} ms ` +
          `and ${watched.cpu.toFixed(0)} µs; ${seen.requests} states of requests in ` +
          `${seen.batches} batches, ${seen.readings} readings, ${seen.refused} refused`,
      ),
    ]
  } finally {
    close()
    await subject.stop()
    await upstream.stop()
  }
}

/** Ms until the form is there, from the key to the first page, and from there to the lists of teams and keys. */
interface View {
  readonly form: number
  readonly home: number
  readonly teams: number
  readonly keys: number
}

const viewOf = async (browser: Browser, base: string, rate: number): Promise<View> => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate })
  await page.goto(`${base}/console`)
  await page.waitForSelector('#key')
  const shown = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
  await page.fill('#key', key)
  const until = async (act: () => Promise<unknown>, heading: string): Promise<number> => {
    const began = performance.now()
    await act()
    await page.waitForFunction(
      (words) => document.querySelector('main:not([aria-busy]) h1')?.textContent === words,
      heading,
    )
    return performance.now() - began
  }
  const go = (hash: string) => page.evaluate((to) => void (location.hash = to), hash)
  const view = {
    form: shown ?? Infinity,
    home: await until(() => page.press('#key', 'Enter'), 'Home'),
    teams: await until(() => go('#/teams'), 'Teams'),
    keys: await until(() => go('#/keys'), 'Keys'),
  }
  await context.close()
  return view
}

/** The first view with nothing in the browser's cache, and the long lists behind it. */
const firstViews = async (): Promise<readonly string[]> => {
  if (withoutChromium !== false) return [withoutChromium]
  const upstream = await start('upstream')
  const subject = await full(upstream)
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    const lines: string[] = []
    for (const [rate, most] of [
      [1, mostFirst],
      [slower, mostSlow],
    ] as const) {
      const seen: View[] = []
      // The first one starts the browser.
      for (let at = 0; at <= views; at++) seen.push(await viewOf(browser, subject.base, rate))
      const ms = (name: keyof View) => median(seen.slice(1).map((view) => view[name]))
      const bounded = rate === 1 ? (['form', 'home', 'teams', 'keys'] as const) : (['form'] as const)
      lines.push(
        `the first view after ${ms('form').toFixed(0)} ms, Home ${ms('home').toFixed(0)} ms behind the key, ` +
          `${teams} teams ${ms('teams').toFixed(0)} ms and ${keys} keys ${ms('keys').toFixed(0)} ms behind a click, ` +
          `on a processor ${rate} times as slow (median of ${views}; ${bounded.join(', ')} in ${most} ms: ` +
          `${bounded.every((name) => ms(name) <= most) ? 'kept' : 'BEYOND'})`,
      )
    }
    return lines
  } finally {
    await browser.close()
    await subject.stop()
    await upstream.stop()
  }
}

/** What open consoles cost those who are served, and how soon a console is there. */
export async function* consoles(turns: ConsoleTurns): AsyncGenerator<string> {
  yield* await firstViews()
  yield* await served(turns)
}
