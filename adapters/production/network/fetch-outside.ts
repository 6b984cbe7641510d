import { isUtf8 } from 'node:buffer'
import { lookup as systemLookup } from 'node:dns/promises'
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import type { Response } from 'node-fetch'
import { joinChunks } from '../../../core/http/unwanted-bytes.ts'
import { BadRequest, GatewayError, UpstreamFailed } from '../../../core/errors.ts'
import type { Ask, Door } from '../../../core/ports/platform.ts'
import { unlessAborted } from '../../../core/abort.ts'
import { stopWith } from '../../../plugins/shared/stop-with.ts'
import { bare, makeEgress } from './egress.ts'

/** The bounds of one fetch, with all redirects. */
export interface OutsideSettings {
  readonly ports: readonly number[]
  /** In bytes: the longest body after decompression. */
  readonly bytes: number
  /** In ms from the call to the end of the body. */
  readonly time: number
  readonly allow: readonly string[]
}

/** All addresses of a host. */
export type Resolve = (host: string) => Promise<readonly string[]>

const bySystem: Resolve = async (host) => (await systemLookup(host, { all: true })).map(({ address }) => address)

const mostRedirects = 5
const moved = new Set([301, 302, 303, 307, 308])
/** Headers that are sent on to another origin: none of them identifies the caller. */
const travelling = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

/** Sites send addresses in UTF-8, as browsers read them; the library hands out each byte as a character. */
const inUtf8 = (location: string): string => {
  const bytes = Buffer.from(location, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : location
}

/** The connection uses only checked addresses. */
const pin = (addresses: readonly string[]): LookupFunction => {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, done) =>
    options.all ? done(null, answers) : done(null, answers[0]!.address, answers[0]!.family)
}

/** An answer in tiny chunks costs the parser a thousand times its bytes. */
const refuseTiny = (answer: IncomingMessage): void =>
  joinChunks(answer, () => {
    answer.destroy(new UpstreamFailed('The answer comes in tiny chunks', { answered: answer.statusCode ?? null }))
  })

/** The library hands out an answer without its chunks, so the agent listens to each request that it is given. */
const listening = <A extends HttpAgent>(agent: A): A => {
  const { addRequest } = agent as unknown as { addRequest(request: ClientRequest, ...options: unknown[]): void }
  return Object.assign(agent, {
    addRequest(request: ClientRequest, ...options: unknown[]) {
      request.prependOnceListener('response', refuseTiny)
      addRequest.call(agent, request, ...options)
    },
  })
}

interface Step {
  readonly url: URL
  readonly method: Ask['method']
  readonly headers: Headers
  readonly body: Ask['body']
  readonly stays: boolean
}

/** A caller's `host` header could name another site behind a checked address. */
const start = (url: URL, ask: Ask): Step => {
  const headers = new Headers(ask.headers)
  headers.delete('host')
  headers.set('user-agent', 'sealgate')
  return { url, method: ask.method, headers, body: ask.body, stays: ask.stays === true }
}

/** As browsers do (Fetch standard): 303 becomes GET, and so does a POST behind 301 or 302. */
const follow = (step: Step, url: URL, status: number): Step => {
  const turned = status === 303 || (status < 303 && step.method === 'POST')
  const headers = new Headers(step.headers)
  for (const name of [...headers.keys()]) {
    if (url.origin !== step.url.origin && !travelling.has(name)) headers.delete(name)
  }
  if (turned) headers.delete('content-type')
  const { method, body, stays } = step
  return turned ? { url, method: 'GET', headers, body: undefined, stays } : { url, method, headers, body, stays }
}

/** Follows redirects to an answer. Every connection uses checked addresses. */
const walking = (egress: ReturnType<typeof makeEgress>, resolve: Resolve) => {
  const connect = async ({ url, method, headers, body }: Step, signal: AbortSignal) => {
    const host = bare(url)
    const addresses = isIP(host) ? [host] : await unlessAborted(resolve(host), signal)
    egress.check(host, addresses)
    const lookup = pin(addresses)
    // The explicit option overrides any environment variable that disables verification.
    const agent = listening(
      url.protocol === 'https:' ? new HttpsAgent({ lookup, rejectUnauthorized: true }) : new HttpAgent({ lookup }),
    )
    const sent = typeof body === 'string' ? body : body && Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    try {
      const { default: fetch } = await import('node-fetch')
      const options = {
        method,
        headers: Object.fromEntries(headers),
        body: sent ?? null,
        agent,
        signal,
        redirect: 'manual' as const,
      }
      // The library throws where nobody catches when it begins with an aborted signal and a body.
      signal.throwIfAborted()
      return { response: await fetch(url.href, options), close: () => agent.destroy() }
    } catch (fault) {
      agent.destroy()
      throw fault
    }
  }

  return async (first: Step, signal: AbortSignal) => {
    let step = first
    for (let hops = 0; ; hops++) {
      const { response, close } = await connect(step, signal)
      const location = !step.stays && moved.has(response.status) ? response.headers.get('location') : null
      if (location === null) return { response, close, url: step.url.href }
      leave(response)
      close()
      if (hops === mostRedirects) throw new BadRequest('The address redirects too often')
      step = follow(step, egress.target(inUtf8(location), step.url), response.status)
    }
  }
}

/** Aborts when the caller leaves, or when the time for the answer or the whole call is over. */
const deadline = (ask: Ask, time: number) => {
  const { signal, stop, off } = stopWith(ask.signal)
  const late = () => stop(new UpstreamFailed('The address took too long', { again: true }))
  const limit = setTimeout(late, time)
  const patience = ask.patience === undefined ? undefined : setTimeout(late, ask.patience)
  return {
    ...{ signal, stop },
    answered: () => clearTimeout(patience),
    rest() {
      clearTimeout(limit)
      clearTimeout(patience)
      off()
    },
  }
}

/** Rejects with BadRequest for a forbidden address, with UpstreamFailed otherwise, and with the caller's own reason. */
export const openOutside = (settings: OutsideSettings, resolve: Resolve = bySystem): Door => {
  const egress = makeEgress(settings.allow, settings.ports)
  const walk = walking(egress, resolve)

  return async (url, ask) => {
    ask.signal.throwIfAborted()
    const first = start(egress.target(url), ask)
    const { signal, stop, answered, rest } = deadline(ask, settings.time)
    const told = (cause: unknown, answered: number | null): unknown => {
      if (signal.aborted) return signal.reason
      return cause instanceof GatewayError ? cause : new UpstreamFailed(undefined, { again: true, cause, answered })
    }

    let way: Awaited<ReturnType<typeof walk>>
    try {
      way = await walk(first, signal)
    } catch (fault) {
      rest()
      throw told(fault, null)
    }
    answered()
    const { response, close } = way
    const shut = () => {
      rest()
      leave(response)
      close()
    }
    // node-fetch ignores the signal after the last received byte, when decompression may still run.
    signal.addEventListener('abort', shut, { once: true })

    async function* read(): AsyncGenerator<Uint8Array> {
      let size = 0
      try {
        for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
          size += chunk.length
          if (size > settings.bytes) throw new UpstreamFailed('The answer is too large', { answered: response.status })
          yield chunk
        }
      } catch (fault) {
        throw told(fault, response.status)
      } finally {
        shut()
      }
      // A destroyed stream may end as if it were complete.
      if (signal.aborted) throw signal.reason
    }

    return {
      status: response.status,
      url: way.url,
      header: (name) => response.headers.get(name),
      body: read(),
      discard: () => stop(new UpstreamFailed('The answer was discarded', { answered: response.status })),
    }
  }
}

/** Ends the body's stream, so that an unread answer holds no memory. */
const leave = ({ body }: Response): void => {
  ;(body as Readable | null)?.destroy()
}
