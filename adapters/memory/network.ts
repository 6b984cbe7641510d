import { UpstreamFailed } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { type Answer, type Door, Fetch, Log, type LogFacts } from '../../core/ports/platform.ts'

/** `answered` is the status that came before the fault; null when no answer came. */
const failed = (cause: unknown, answered: number | null = null) =>
  new UpstreamFailed(undefined, { again: true, answered, cause })

const closing = new Error('The gateway closes')

async function* bytesOf(response: Response, leave: () => void): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of response.body ?? []) yield part as Uint8Array
  } catch (cause) {
    throw failed(cause, response.status)
  } finally {
    leave()
  }
}

/** Connections of the platform's own `fetch`, which end with the gateway. A redirect is an answer. */
const connections = (): Pick<Fetch, 'upstream' | 'dispose'> => {
  const running = new Set<AbortController>()
  let isClosed = false
  const upstream: Door = async (url, { method, headers = {}, body = null, signal, patience }): Promise<Answer> => {
    signal.throwIfAborted()
    if (isClosed) throw failed(closing)
    const controller = new AbortController()
    running.add(controller)
    const leave = () => void running.delete(controller)
    const late =
      patience === undefined ? null : setTimeout(() => controller.abort(new Error('No answer in time')), patience)
    const either = AbortSignal.any([signal, controller.signal])
    try {
      const question = {
        method,
        headers: { 'accept-encoding': 'identity', ...headers },
        body,
        redirect: 'manual',
        signal: either,
      }
      const response = await fetch(url, question as RequestInit)
      return {
        status: response.status,
        header: (name) => response.headers.get(name),
        body: bytesOf(response, leave),
        discard() {
          leave()
          controller.abort(new Error('The answer was discarded'))
        },
      }
    } catch (cause) {
      leave()
      signal.throwIfAborted()
      throw failed(cause)
    } finally {
      if (late !== null) clearTimeout(late)
    }
  }
  const dispose = async () => {
    isClosed = true
    for (const controller of running) controller.abort(closing)
  }
  return { upstream, dispose }
}

/** Tools name addresses of their own, and this environment has no check for private ones. */
const closed: Door = async (_url, { signal }) => {
  signal.throwIfAborted()
  throw new UpstreamFailed('This environment has no network for tools', { again: true })
}

/**
 * Reaches backends, but no address that a caller names: such addresses need the guarded door of `sealgate/production`.
 */
export const networkFetch = plugin({
  port: Fetch,
  name: 'network',
  create: (): Fetch => ({ ...connections(), outside: closed }),
})

const line = (event: string, facts: LogFacts = {}): void => {
  const told = Object.entries(facts).map(([name, value]) => `${name} ${String(value)}`)
  process.stderr.write(`sealgate: ${event.replaceAll(/[._]/g, ' ')}${told.length > 0 ? `: ${told.join(', ')}` : ''}\n`)
}

/** The classes and codes of an error and its causes: foreign words pass where they are short and plain. */
const classesOf = (cause: unknown, depth = 8): string[] => {
  if (!(cause instanceof Error) || depth === 0) return []
  const words = [cause.constructor.name, (cause as NodeJS.ErrnoException).code]
  const known = words.filter((word) => /^\w{1,64}$/.test(word ?? ''))
  return [known.join(' '), ...classesOf(cause.cause, depth - 1)]
}

/** Prints warnings and errors to standard error, without the messages of errors. */
export const errorLines = plugin({
  port: Log,
  name: 'error-lines',
  create: (): Log => ({
    info() {},
    warn: line,
    error: (event, facts, cause) =>
      line(event, cause === undefined ? facts : { ...facts, cause: classesOf(cause).join(' < ') || typeof cause }),
  }),
})
