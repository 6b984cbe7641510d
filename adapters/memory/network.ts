import { UpstreamFailed } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { type Answer, type Door, Fetch, Log, type LogFacts } from '../../core/ports/platform.ts'

/** `answered` is the status that came before the fault; null when no answer came. */
const failed = (cause: unknown, answered: number | null = null) =>
  new UpstreamFailed(undefined, { again: true, answered, cause })

async function* bytesOf(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body === null) return
  try {
    for await (const part of response.body) yield part as Uint8Array
  } catch (cause) {
    throw failed(cause, response.status)
  }
}

/** A connection of the platform's own `fetch`. A redirect is an answer. */
const open: Door = async (url, { method, headers = {}, body = null, signal, patience }): Promise<Answer> => {
  signal.throwIfAborted()
  const controller = new AbortController()
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
      body: bytesOf(response),
      discard: () => controller.abort(new Error('The answer was discarded')),
    }
  } catch (cause) {
    signal.throwIfAborted()
    throw failed(cause)
  } finally {
    if (late !== null) clearTimeout(late)
  }
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
  create: (): Fetch => ({ upstream: open, outside: closed }),
})

const line = (event: string, facts: LogFacts = {}): void => {
  const told = Object.entries(facts).map(([name, value]) => `${name} ${String(value)}`)
  process.stderr.write(`sealgate: ${event.replaceAll(/[._]/g, ' ')}${told.length > 0 ? `: ${told.join(', ')}` : ''}\n`)
}

/** Prints warnings and errors to standard error, without the messages of errors. */
export const errorLines = plugin({
  port: Log,
  name: 'error-lines',
  create: (): Log => ({ info() {}, warn: line, error: line }),
})
