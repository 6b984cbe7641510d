import { AwsV4Signer } from 'aws4fetch'
import { createHash } from 'node:crypto'
import { Unavailable, UpstreamFailed } from '../../../core/errors.ts'
import type { Answer, Ask, Clock, Fetch, Random } from '../../../core/ports/platform.ts'
import type { Part } from './parts.ts'
import { elements } from './xml.ts'

/** A request before its signature. */
export interface Request extends Pick<Ask, 'method' | 'headers'> {
  /** Absent for a request to the bucket itself. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Part
}

/** A completely read answer. `code` is the code of an allowed refusal, or null for success. */
export interface Reply extends Pick<Answer, 'header'> {
  readonly code: string | null
  readonly body: Buffer
}

export interface Bucket {
  /** Sends a repeatable request, and repeats it after temporary failures. Throws refusals that are not allowed. */
  ask(request: Request, signal?: AbortSignal, allowed?: readonly string[]): Promise<Reply>
  /** Sends a request once and leaves its answer unread. */
  send(request: Request, signal: AbortSignal): Promise<Answer>
  /** The body of an answer. Each chunk has its own time limit, and so has each pause of the reader. */
  chunks(answer: Answer): AsyncIterable<Uint8Array>
  /** The address of a request with its signature in the query. */
  link(request: Request): Promise<string>
}

export interface BucketSettings {
  readonly bucket: string
  readonly region: string
  /** Absent for Amazon's address of the region. */
  readonly endpoint?: string | undefined
  /** The place of the bucket's name: when absent, the path with an endpoint, and the host at Amazon. */
  readonly addressing?: 'path' | 'host' | undefined
  /** In ms: after this time without an answer, or between two chunks of one, S3 counts as down. */
  readonly patience: number
  readonly keys: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken: string }
}

/** The tries of one request, with the first one. */
export const maxTries = 3
const hashOfNothing = createHash('sha256').digest('hex')
/** Temporary refusals with status 400. */
const passingCodes = ['RequestTimeout', 'IncompleteBody', 'BadDigest', 'XAmzContentSHA256Mismatch']

/** Makes a new signal for each call: Node reports many listeners on one signal as a leak. */
export const neverAborted = (): AbortSignal => new AbortController().signal

export const asUnavailable = (cause: unknown): Unavailable => new Unavailable(undefined, { cause })
/** An error with the code of the refusal only: the text of a refusal quotes the request. */
export const refusal = (code: string): Unavailable => asUnavailable(Object.assign(new Error('S3 refused'), { code }))

/** The code of a refusal; null for success. A POST may report a failure with status 200. */
const codeOf = (method: string | undefined, status: number, body: Buffer): string | null => {
  const [code = ''] = status >= 300 || method === 'POST' ? elements(body, 'Code') : []
  if (/^\w+$/.test(code)) return code
  return status < 300 ? null : `${status}`
}

const isPassing = (status: number, code: string): boolean =>
  status < 300 || status >= 500 || [408, 429].includes(status) || passingCodes.includes(code)

/** The address of the bucket, without a slash at its end. */
const topOf = ({ bucket, region, endpoint, addressing }: BucketSettings): string => {
  const { protocol, host, pathname } = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  const base = `${host}${pathname.replace(/\/$/, '')}`
  const isInHost = (addressing ?? (endpoint ? 'path' : 'host')) === 'host'
  return `${protocol}//${isInHost ? `${bucket}.${base}` : `${base}/${bucket}`}`
}

/** The body of an answer. Each chunk has `patience` ms, and so has each pause of the reader. */
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

/** AWS Signature Version 4. The cache keeps the signing key, which depends on the day. */
const signing = (clock: Clock, settings: BucketSettings) => {
  const top = topOf(settings)
  const identity = { ...settings.keys, service: 's3', region: settings.region, cache: new Map() }
  return ({ method, key = '', query = {} }: Request, how: object) => {
    const datetime = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '')
    const url = `${top}/${key}?${new URLSearchParams(query)}`.replace(/\?$/, '')
    return new AwsV4Signer({ ...(method === undefined ? {} : { method }), url, ...identity, datetime, ...how }).sign()
  }
}

/** `ask` rejects with Unavailable after the last try, and with the signal's reason after an abort. */
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

  /** The reply to one try, or a failure that another try may heal. Throws all other failures. */
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
    async ask(request, signal = neverAborted(), allowed = []) {
      const began = clock.now()
      for (let tries = 1; ; tries++) {
        const outcome = await attempt(request, signal, allowed)
        if ('reply' in outcome) return outcome.reply
        if (tries === maxTries || clock.now() - began >= patience) throw outcome.fault
        // In ms: 75 to 150 before the second try, and 225 to 450 before the third.
        await clock.sleep(3 ** tries * 25 * (1 + random.fraction()), signal)
      }
    },
    link: async (request) => (await sign(request, { signQuery: true })).url.href,
  }
}
