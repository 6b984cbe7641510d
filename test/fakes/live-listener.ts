import type { Test } from 'tap'
import type { LiveRequest } from '../../plugins/observers/live/live-request.ts'
import { until } from '../until.ts'

/** A listener of `/admin/live`, over real `fetch`. */
export interface Heard {
  /** The event `listening`. */
  readonly first: Readonly<Record<string, unknown>>
  /** The last state of each request, by its id. */
  readonly requests: ReadonlyMap<string, LiveRequest>
  /** All that came. */
  text(): string
  isOver(): boolean
  /** Throws after the time. */
  until(there: () => boolean, ms?: number): Promise<void>
  leave(): void
}

interface Told {
  readonly requests: readonly LiveRequest[]
}

/** Listens until the test ends. */
export const listening = async (
  t: Pick<Test, 'teardown'>,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Heard> => {
  const controller = new AbortController()
  t.teardown(() => controller.abort())
  const answer = await fetch(url, { headers, signal: controller.signal })
  if (answer.status !== 200 || answer.body === null) throw new Error(`the listener is answered with ${answer.status}`)
  const requests = new Map<string, LiveRequest>()
  let first: Readonly<Record<string, unknown>> | null = null
  let text = ''
  let over = false
  const take = (block: string): void => {
    const event = /^event: (.*)$/m.exec(block)?.[1]
    const data = /^data: (.*)$/m.exec(block)?.[1]
    if (data === undefined) return
    if (event === 'listening') first = JSON.parse(data) as Record<string, unknown>
    if (event === 'requests')
      for (const request of (JSON.parse(data) as Told).requests) requests.set(request.id, request)
  }
  const read = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const bytes of body) {
      const part = decoder.decode(bytes, { stream: true })
      text += part
      const blocks = (rest + part).split('\n\n')
      rest = blocks.pop() ?? ''
      blocks.forEach(take)
    }
  }
  void read(answer.body)
    .catch(() => undefined)
    .finally(() => (over = true))
  const wait = async (there: () => boolean, ms = 60_000): Promise<void> => {
    if (!(await until(there, ms))) throw new Error('the listener waited too long')
  }
  await wait(() => first !== null)
  return {
    first: first!,
    requests,
    text: () => text,
    isOver: () => over,
    until: wait,
    leave: () => controller.abort(),
  }
}
