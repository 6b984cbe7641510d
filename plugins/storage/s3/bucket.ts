import { AwsV4Signer } from 'aws4fetch'
import { createHash } from 'node:crypto'
import { Unavailable, UpstreamFailed } from '../../../core/errors.ts'
import type { Answer, Ask, Clock, Fetch, Random } from '../../../core/ports/platform.ts'
import type { Part } from './parts.ts'
import { elements } from './xml.ts'

export interface Request extends Pick<Ask, 'method' | 'headers'> {
  /** Absent for the bucket itself. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Part
}

/** An answer that was read to its end; `code` is that of a refusal which the caller allows, null for success. */
export interface Reply extends Pick<Answer, 'header'> {
  readonly code: string | null
  readonly body: Buffer
}

export interface Bucket {
  /** Sends a request that may be sent twice, and again after faults that pass. Throws other refusals than the allowed ones. */
  ask(request: Request, signal?: AbortSignal, allowed?: readonly string[]): Promise<Reply>
  /** Sends a request once, and leaves its answer unread. */
  send(request: Request, signal: AbortSignal): Promise<Answer>
  /** The body of an answer. Each chunk, and each of its readers, has only the patience of one step. */
  chunks(answer: Answer): AsyncIterable<Uint8Array>
  /** The address of a request with its signature in the query. */
  link(request: Request): Promise<string>
}

export interface BucketSettings {
  readonly bucket: string
  readonly region: string
  readonly endpoint?: string | undefined
  readonly addressing?: 'path' | 'host' | undefined
  /** Ms without an answer, or without more of one, after which S3 counts as down. */
  readonly patience: number
  readonly keys: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken: string }
}

export const maxTries = 3
const hashOfNothing = createHash('sha256').digest('hex')
/** Refusals with status 400 that pass. */
const passingCodes = ['RequestTimeout', 'IncompleteBody', 'BadDigest', 'XAmzContentSHA256Mismatch']

/** A new signal for each call: Node takes many listeners of one signal for a leak. */
export const never = (): AbortSignal => new AbortController().signal

export const asUnavailable = (cause: unknown): Unavailable => new Unavailable(undefined, { cause })
/** An error with the refusal's code alone: the text of a refusal quotes the request. */
export const refusal = (code: string): Unavailable => asUnavailable(Object.assign(new Error('S3 refused'), { code }))

/** The code of a refusal, null for success. A POST may report a fault behind status 200. */
const codeOf = (method: string | undefined, status: number, body: Buffer): string | null => {
  const [code = ''] = status >= 300 || method === 'POST' ? elements(body, 'Code') : []
  if (/^\w+$/.test(code)) return code
  return status < 300 ? null : `${status}`
}

const isPassing = (status: number, code: string): boolean =>
  status < 300 || status >= 500 || [408, 429].includes(status) || passingCodes.includes(code)

const topOf = ({ bucket, region, endpoint, addressing }: BucketSettings): string => {
  const { protocol, host, pathname } = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  const base = `${host}${pathname.replace(/\/$/, '')}`
  const isInHost = (addressing ?? (endpoint ? 'path' : 'host')) === 'host'
  return `${protocol}//${isInHost ? `${bucket}.${base}` : `${base}/${bucket}`}`
}

/** The body of an answer; each chunk, and each of its readers, has `patience` ms. */
const chunksWithin = async function* (clock: Clock, patience: number, answer: Answer): AsyncGenerator<Uint8Array> {
  const alarm = clock.alarm(patience, answer.discard)
  try {
    for await (const chunk of answer.body) {
      alarm.again()
      yield chunk
      alarm.again()
    }
  } finally {
    alarm.off()
  }
}

const signing = (clock: Clock, settings: BucketSettings) => {
  const top = topOf(settings)
  const identity = { ...settings.keys, service: 's3', region: settings.region, cache: new Map() }
  return ({ method, key = '', query = {} }: Request, how: object) => {
    const datetime = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '')
    const url = `${top}/${key}?${new URLSearchParams(query)}`.replace(/\?$/, '')
    return new AwsV4Signer({ ...(method === undefined ? {} : { method }), url, ...identity, datetime, ...how }).sign()
  }
}

export const openBucket = (
  { fetch, clock, random }: { readonly fetch: Fetch; readonly clock: Clock; readonly random: Random },
  settings: BucketSettings,
): Bucket => {
  const { patience } = settings
  const sign = signing(clock, settings)
  const chunks = (answer: Answer) => chunksWithin(clock, patience, answer)

  const send = async (request: Request, signal: AbortSignal): Promise<Answer> => {
    const { method, body } = request
    const sums = body && { 'content-md5': body.md5.toString('base64'), 'content-type': 'application/octet-stream' }
    const named = { ...request.headers, ...sums, 'x-amz-content-sha256': body?.sha256 ?? hashOfNothing }
    const { url, headers } = await sign(request, { headers: named })
    const content = body && { body: body.bytes }
    return fetch.upstream(url.href, { method, headers: Object.fromEntries(headers), ...content, signal, patience })
  }

  /** The reply to one try, or the fault that another try may heal; throws all other faults. */
  const attempt = async (
    request: Request,
    signal: AbortSignal,
    allowed: readonly string[],
  ): Promise<{ readonly reply: Reply } | { readonly fault: unknown }> => {
    try {
      const answer = await send(request, signal)
      const { status, header } = answer
      const read: Uint8Array[] = []
      for await (const chunk of chunks(answer)) read.push(chunk)
      const body = Buffer.concat(read)
      const code = codeOf(request.method, status, body)
      if (code === null || allowed.includes(code)) return { reply: { code, body, header } }
      if (!isPassing(status, code)) throw refusal(code)
      return { fault: refusal(code) }
    } catch (fault) {
      if (signal.aborted) throw signal.reason
      if (!(fault instanceof UpstreamFailed)) throw fault
      return { fault: asUnavailable(fault) }
    }
  }

  return {
    send,
    chunks,
    async ask(request, signal = never(), allowed = []) {
      const began = clock.now()
      for (let tries = 1; ; tries++) {
        const outcome = await attempt(request, signal, allowed)
        if ('reply' in outcome) return outcome.reply
        if (tries === maxTries || clock.now() - began >= patience) throw outcome.fault
        await clock.sleep(3 ** tries * 25 * (1 + random.fraction()), signal)
      }
    },
    link: async (request) => (await sign(request, { signQuery: true })).url.href,
  }
}
