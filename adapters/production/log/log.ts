import type { Log, LogFacts } from '../../../core/ports/platform.ts'
import { bufferedLines } from './buffered-writer.ts'
import { wordedLine } from './worded-line.ts'

/** From the most lines to none; `silent` is above every event. */
export const levels = ['info', 'warn', 'error', 'silent'] as const

/** The largest number of causes that the log shows for one error. */
const depth = 8

/** Class names and codes come from foreign errors, so only short plain words pass. */
const word = /^\w{1,64}$/
/** One line of a stack, with the place of a file or a module and nothing that a message could hold. */
const frame =
  /^ {4}at (?:[\w$.<>#[\] ]{1,200} \()?(?:(?:file:|node:|\/|[A-Z]:\\)[^\s()]+:\d+:\d+|<anonymous>|native)\)?$/

/**
 * The lines of the stack below the message. Empty when the message imitates stack lines and the two cannot be
 * separated.
 */
const places = ({ stack, message }: Error): string[] => {
  if (typeof stack !== 'string') return []
  const head = message ? stack.indexOf(': ') + 2 + message.length : stack.indexOf('\n')
  const apart = message ? stack.endsWith(message, head) : !stack.slice(0, head).includes(':')
  if (!apart || stack[head] !== '\n') return []
  return stack
    .slice(head + 1)
    .split('\n')
    .filter((line) => frame.test(line))
    .map((line) => line.trim())
}

/** What a log may know of an error. The message is left out: it may quote a request. */
const tell = (cause: unknown): Record<string, unknown> => {
  if (!(cause instanceof Error)) return { class: cause === null ? 'null' : typeof cause }
  const name: unknown = cause.constructor?.name
  const code: unknown = 'code' in cause ? cause.code : undefined
  return {
    class: typeof name === 'string' && word.test(name) ? name : 'Error',
    ...(typeof code === 'number' || (typeof code === 'string' && word.test(code)) ? { code } : {}),
    at: places(cause),
  }
}

/** An error and its causes, each once, without their messages. */
const chain = (cause: unknown): Record<string, unknown>[] => {
  const seen = new Set<unknown>([cause])
  for (const error of seen) {
    if (seen.size >= depth) break
    if (!(error instanceof Error)) continue
    if (error.cause !== undefined) seen.add(error.cause)
    if (error instanceof AggregateError) for (const one of error.errors.slice(0, depth)) seen.add(one)
  }
  return [...seen].slice(0, depth).map(tell)
}

/** The destination of lines. `dispose` calls `close`, or else `flushSync`. */
export interface Destination {
  write(line: string): void
  flushSync?(): void
  close?(): Promise<void>
}

/** Descriptor 1, with lines collected and written together. */
export const standardOutput = (): Destination => bufferedLines(1)

const none = {}

/** The members of an object as JSON, each behind a comma. */
const membersOf = (of: object): string => {
  const text = of === none ? '{}' : JSON.stringify(of)
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}

/** In ms: the time in which errors that differ by their request alone share a line. */
const shareMs = 10_000
/** The largest number of sorts of errors whose next line waits; errors of a further sort have a line each. */
const mostSorts = 100

/** The first error of a sort has its line at once. The last one of the next ten seconds counts the others (`more`). */
const sharedLines = (write: (event: string, facts: LogFacts, causes: object) => void) => {
  const ends = new Map<string, () => void>()
  const waiting = new Map<string, { count: number; last: LogFacts }>()
  const tell = (event: string, facts: LogFacts, causes: object, counts: object = none): void => {
    const sort = JSON.stringify([event, facts, causes], (name, value) => (name === 'request' ? null : value))
    if (ends.has(sort)) return void waiting.set(sort, { count: 1 + (waiting.get(sort)?.count ?? 0), last: facts })
    write(event, facts, { ...counts, ...causes })
    if (ends.size === mostSorts) return
    const end = (): void => {
      const later = waiting.get(sort)
      ends.delete(sort)
      waiting.delete(sort)
      if (later !== undefined) tell(event, later.last, causes, { more: later.count - 1 })
    }
    setTimeout(end, shareMs).unref()
    ends.set(sort, end)
  }
  const end = (): void => {
    for (const end of [...ends.values()]) end()
  }
  return { tell, end }
}

/** One line per event: JSON for programs, words for a person. */
export const writeLog = (level: (typeof levels)[number], destination: Destination, worded = false): Log => {
  const least = levels.indexOf(level)
  const line = (at: 'info' | 'warn' | 'error', event: string, facts: LogFacts = none, causes: object = none): void => {
    if (levels.indexOf(at) < least) return
    const members = membersOf(facts) + membersOf(causes)
    const text = `{"level":"${at}","time":${Date.now()},"pid":${process.pid}${members},"event":${JSON.stringify(event)}}\n`
    destination.write(worded ? wordedLine(text) : text)
  }
  const errors = sharedLines((event, facts, causes) => line('error', event, facts, causes))
  return {
    info: (event, facts) => line('info', event, facts),
    warn: (event, facts) => line('warn', event, facts),
    error: (event, facts, cause) => errors.tell(event, facts, cause === undefined ? none : { cause: chain(cause) }),
    dispose() {
      errors.end()
      return destination.close === undefined ? destination.flushSync?.() : destination.close()
    },
  }
}
