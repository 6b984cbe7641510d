import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Middleware } from 'koa'
import t from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { running, unhurried } from '../../environments.ts'
import { vectorsIn, verdictsOf } from './verdicts.ts'

/** A piece of a request, and how many ms pass before the next. */
interface Piece {
  readonly text: string
  readonly wait?: number
}

/** A letter of `verdicts` for each outcome: passed, warned of, failed, or an error of the stage. */
interface Case {
  readonly id: string
  readonly steps: readonly (readonly Piece[])[]
  readonly verdicts: string
  /** Letters for answers that lack this header. */
  readonly header?: string
  readonly without?: string
  /** The body of an answer that passes. */
  readonly body?: string
}

interface Suite {
  /** Statuses of outcomes in their order: of cases with one step, and of others. */
  readonly statuses: { readonly one: readonly number[]; readonly many: readonly number[] }
  readonly cases: readonly Case[]
}

/** In ms: as long as the suite's own runner waits for a head, and then for more. */
const patience = { head: 2_000, body: 100, end: 50 }

/** Runs of one character are written as their length. */
const bytesOf = (text: string, host: string): Buffer =>
  Buffer.from(
    text
      .replaceAll('{host}', host)
      .replaceAll(/\u0001(\d+)\u0001(.)/gs, (_, times: string, one: string) => one.repeat(+times)),
    'latin1',
  )

interface Line {
  readonly socket: Socket
  /** What arrived since the last call, and whether the other side has ended. */
  take(): string
  ended(): boolean
}

const opened = async (port: number): Promise<Line> => {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  let isOver = false
  socket.on('data', (piece) => (text += piece.toString('latin1')))
  for (const event of ['end', 'close', 'error']) socket.on(event, () => (isOver = true))
  await once(socket, 'connect')
  const take = (): string => {
    const taken = text
    text = ''
    return taken
  }
  return { socket, take, ended: () => isOver }
}

/** An answer as the suite's own runner sees it: a status, or silence, or an end. */
const heard = async (line: Line) => {
  let text = ''
  for (const start = Date.now(); Date.now() - start < patience.head && !line.ended(); await sleep(5)) {
    text += line.take()
    if (text.includes('\r\n\r\n')) break
  }
  await sleep(patience.body)
  text += line.take()
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? []
  if (status === undefined) return { outcome: line.ended() ? 'closed' : 'silent', text }
  await sleep(patience.end)
  const more = text.split(/HTTP\/1\.1 \d{3}/).length > 2 ? ' more' : ''
  return { outcome: `${status}${more}${line.ended() ? ' closed' : ''}`, text }
}

const outcomesOf = (statuses: readonly number[]): readonly string[] => [
  ...statuses.flatMap((status) => [`${status}`, `${status} closed`, `${status} more`, `${status} more closed`]),
  'closed',
  'silent',
]
const isOpen = (outcome: string): boolean => /^\d+( more)?$/.test(outcome)

/** All ways that a case can go, in the order of its letters: a step behind an end is not played. */
const ways = (outcomes: readonly string[], steps: number): readonly string[] =>
  steps === 0
    ? ['']
    : outcomes.flatMap((one) => (isOpen(one) ? ways(outcomes, steps - 1).map((rest) => `${one}/${rest}`) : [`${one}/`]))

const played = async ({ steps }: Case, port: number) => {
  const line = await opened(port)
  let way = ''
  let all = ''
  for (const pieces of steps) {
    for (const { text, wait = 0 } of pieces) {
      if (!line.ended()) line.socket.write(bytesOf(text, `127.0.0.1:${port}`))
      await sleep(wait)
    }
    const { outcome, text } = await heard(line)
    way += `${outcome}/`
    all += text
    if (!isOpen(outcome)) break
  }
  line.socket.destroy()
  return { way, all }
}

/** The suite posts to the root of a server that sends a body back. */
const echo: Middleware = async (ctx, next) => {
  if (ctx.method !== 'POST' || ctx.path !== '/') return next()
  const parts: Buffer[] = []
  for await (const part of ctx.req) parts.push(part as Buffer)
  ctx.status = 200
  ctx.body = Buffer.concat(parts)
}

/** Why a case is not judged, by its id and the way that it went. */
const absent: Readonly<Record<string, (id: string, way: string, letter: string) => boolean>> = {
  'ask for tags of the root': (id) => id.startsWith('CAP-'),
  'ask for cookies sent back': (id, way) => id.startsWith('COOK-') && way === '404/',
  'may go either way': (_, __, letter) => letter === 'w',
  'have a host that Node takes': (id) => /HOST/.test(id),
  'have a version that Node refuses': (id) => id === 'COMP-HTTP12-VERSION',
  'have an empty header that Node takes for none': (id) => id === 'SMUG-TE-EMPTY-VALUE',
  'ask for a page or a method that is not there': (_, way) => /^40[45]\//.test(way),
}

t.test('Http11Probe against a started gateway', { timeout: 240_000 }, async (t) => {
  const { base } = await running(t, { ...memory(), middleware: [echo] }, unhurried)
  const port = Number(new URL(base).port)
  const { statuses, cases } = (await vectorsIn('http11probe/cases.json')) as Suite
  t.equal(cases.length, 215)
  const isOldest = process.version.startsWith('v20.')
  const verdicts = verdictsOf(isOldest ? 'Http11Probe' : 'Http11Probe on Node 22 and newer')
  const atOnce = pLimit(8)
  const all = await Promise.all(cases.map((one) => atOnce(async () => ({ one, ...(await played(one, port)) }))))
  for (const { one, way, all: text } of all) {
    const at = ways(outcomesOf(one.steps.length === 1 ? statuses.one : statuses.many), one.steps.length).indexOf(way)
    const lacks = one.header !== undefined && !new RegExp(`^${one.header}:`, 'im').test(text)
    const letter = (lacks ? one.without : one.verdicts)?.[at]
    const body = text.slice(text.indexOf('\r\n\r\n') + 4)
    const differs = letter === 'p' && one.body !== undefined && body !== one.body
    const reason = Object.keys(absent).find((name) => absent[name]!(one.id, way, letter ?? '?'))
    if (letter === 'p' && !differs) verdicts.passed(`${one.id}: ${way}`)
    else if (reason !== undefined && !differs) verdicts.absent(`${one.id}: ${way}`, reason)
    else verdicts.failed(one.id, `${letter ?? '?'} ${way}`)
  }
  await verdicts.told(t)
})
