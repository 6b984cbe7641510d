import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { listening } from '../fakes/listening.ts'

/** A limit on what may be in flight at once: its name, and how many there may be when a call comes in. */
export interface Bound {
  readonly name: string
  most(): number
}

export interface Counted {
  readonly input: number
  readonly output: number
}

/** One call as the provider sees it, from before it is sent until nobody waits for it any more. */
export interface Flight {
  readonly mark: string
  readonly arrived: Promise<void>
  /** Its connection is over. */
  readonly closed: Promise<void>
  /** Answers, and from then on it takes no place. */
  end(counted: Counted): void
  /** It is about to be given up, or was refused; from then on it takes no place. */
  leave(how: 'left' | 'refused'): void
}

/** A provider that holds every call until it is told to end it, and the only one who counts what is in flight. */
export interface Provider {
  readonly baseUrl: string
  expect(mark: string, bounds: readonly Bound[]): Flight
  held(name: string): number
  /** Calls that are not answered and not closed. */
  open(): number
  /** The most that were ever in flight under names with that beginning. */
  most(beginning: string): number
  /** What must not be, of the calls whose marks begin so. */
  faults(beginning: string): readonly string[]
}

export const holding = async (t: Test): Promise<Provider> => {
  const expected = new Map<string, (request: Asked, response: ServerResponse) => void>()
  const held = new Map<string, number>()
  const most = new Map<string, number>()
  const faults: string[] = []
  let open = 0

  const count = (name: string, by: 1 | -1) => {
    const now = (held.get(name) ?? 0) + by
    if (now === 0) held.delete(name)
    else held.set(name, now)
    const kind = name.slice(0, name.lastIndexOf('/'))
    most.set(kind, Math.max(most.get(kind) ?? 0, now))
    return now
  }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    // A start asks each backend for its models.
    if (request.method === 'GET') return void response.end('{"object":"list","data":[]}')
    const asked = JSON.parse(await text(request)) as Asked
    const mark = markOf(asked)
    const arrive = expected.get(mark)
    if (arrive === undefined) faults.push(`${mark} was asked for by nobody`)
    else {
      open++
      response.once('close', () => open--)
      arrive(asked, response)
    }
  }
  const server = createServer((request, response) => void answer(request, response))
  const { port } = await listening(t, server, '127.0.0.1')

  const expect = (mark: string, bounds: readonly Bound[]): Flight => {
    let state: 'sent' | 'open' | 'ended' | 'left' | 'refused' = 'sent'
    let write: ((counted: Counted) => void) | null = null
    let [come, gone] = [() => {}, () => {}]
    const arrived = new Promise<void>((resolve) => (come = resolve))
    const closed = new Promise<void>((resolve) => (gone = resolve))
    const land = (next: typeof state) => {
      if (state === 'open') for (const { name } of bounds) count(name, -1)
      state = next
    }
    expected.set(mark, (request, response) => {
      if (state !== 'sent') faults.push(`${mark} came in although it was ${state}`)
      response.once('close', gone)
      if (state !== 'sent' && state !== 'left') return
      state = 'open'
      for (const { name, most } of bounds) {
        const now = count(name, 1)
        if (now > most()) faults.push(`${mark} is number ${now} of ${most()} in ${name}`)
      }
      write = answering(request, mark, response)
      come()
    })
    return {
      mark,
      arrived,
      closed,
      end(counted) {
        land('ended')
        write!(counted)
      },
      leave(how) {
        if (how === 'refused' && state === 'open') faults.push(`${mark} was refused although it had come in`)
        land(how)
      },
    }
  }

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    expect,
    held: (name) => held.get(name) ?? 0,
    open: () => open,
    most: (beginning) =>
      Math.max(0, ...[...most].filter(([name]) => name.startsWith(beginning)).map(([, most]) => most)),
    faults: (beginning) => faults.filter((fault) => fault.startsWith(beginning)),
  }
}

interface Asked {
  readonly stream?: boolean
  readonly messages?: readonly { readonly content: string }[]
  /** Of a decision. */
  readonly input?: string
}

const markOf = ({ messages, input = '' }: Asked): string => (messages?.at(-1)?.content ?? input).split(' ')[0]!

/** What a stream says at once. */
export const opening = 'ab'

const answering = ({ stream, input }: Asked, mark: string, response: ServerResponse) => {
  const head = { id: mark, created: 1, model: 'm' }
  const usageOf = ({ input, output }: Counted) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
  })
  const event = (value: object) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], ...value })}\n\n`
  const said = (content: string, finish_reason: string | null) => ({
    choices: [{ index: 0, delta: { content }, finish_reason }],
  })
  const json = (value: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
  if (stream) {
    response.setHeader('content-type', 'text/event-stream')
    response.write(event(said(opening, null)))
    return (counted: Counted) =>
      response.end(`${event(said(mark, 'stop'))}${event({ usage: usageOf(counted) })}data: [DONE]\n\n`)
  }
  if (input !== undefined)
    return (counted: Counted) =>
      json({
        model: 'm',
        answers: [{ type: 'predicate', name: 'q1', probability: 0.25, label_mass: 0.9 }],
        usage: { input_tokens: counted.input, output_tokens: counted.output },
      })
  return (counted: Counted) =>
    json({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: mark }, finish_reason: 'stop' }],
      usage: usageOf(counted),
    })
}
