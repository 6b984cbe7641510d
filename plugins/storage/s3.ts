import { AwsV4Signer } from 'aws4fetch'
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { BadRequest, Unavailable, UpstreamFailed } from '../../core/errors.ts'
import { plugin } from '../../core/plugin.ts'
import { BlobStore } from '../../core/ports/blob-store.ts'
import { Clock, Fetch, Log, Random, type Answer, type Ask } from '../../core/ports/platform.ts'
import { unlessAborted } from '../../core/abort.ts'

type Piece = ReturnType<typeof piece>

interface Step extends Pick<Ask, 'method' | 'headers'> {
  /** None for the bucket itself. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Piece
}

const day = 24 * 60 * 60 * 1000
/** What is put in one request, and the size of the parts of what is longer; S3 wants at least 5 MiB. */
const most = 8 * 1024 * 1024
/** What `get` has in hand before it answers: a small file takes one request. */
const ahead = 64 * 1024
const tries = 3
const nothing = createHash('sha256').digest('hex')
/** One for each: too many listeners on one are taken for a leak. */
const never = () => new AbortController().signal
/** A 400, and yet a matter of luck. */
const unlucky = ['RequestTimeout', 'IncompleteBody', 'BadDigest', 'XAmzContentSHA256Mismatch']
const filled = v.pipe(v.string(), v.minLength(1))

const isOurs = (path: string) => path.length <= 1024 && path.split('/').every((it) => /^(?!\.\.?$)[\w.-]+$/.test(it))

const keyOf = (path: string): string => {
  if (!isOurs(path)) throw new BadRequest('Invalid path')
  return path
}

const elements = (xml: Buffer | string, name: string) =>
  [...xml.toString().matchAll(RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, it]) => it!.replaceAll('&amp;', '&'))

const asUnavailable = (cause: unknown) => new Unavailable(undefined, { cause })
/** Only the code: the text of a refusal quotes the request. */
const refusal = (code: string) => asUnavailable(Object.assign(new Error('S3 refused'), { code }))

const piece = (bytes: Uint8Array) => ({
  bytes,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  md5: createHash('md5').update(bytes).digest(),
})

/** Cuts a source into parts, in two rooms that take turns: a part holds until the one after the next is asked for. */
const cut = async function* (bytes: AsyncIterable<Uint8Array>, signal: AbortSignal) {
  const source = bytes[Symbol.asyncIterator]()
  const rooms = [Buffer.alloc(0), Buffer.alloc(0)]
  let over: Uint8Array = new Uint8Array()
  let ended = false
  try {
    for (let turn = 0; !ended; turn ^= 1) {
      const [sha256, md5] = [createHash('sha256'), createHash('md5')]
      let [room, size] = [rooms[turn]!, 0]
      for (;;) {
        const chunk = over.subarray(0, most - size)
        if (size + chunk.length > room.length) {
          const larger = turn ? most : Math.min(most, Math.max(size + chunk.length, 4 * room.length, ahead))
          rooms[turn] = room = Buffer.concat([room.subarray(0, size)], larger)
        }
        room.set(chunk, size)
        sha256.update(chunk)
        md5.update(chunk)
        size += chunk.length
        over = over.subarray(chunk.length)
        if (over.length > 0) break
        const step = await unlessAborted(source.next(), signal)
        if ((ended = step.done === true)) break
        over = step.value
      }
      yield { bytes: room.subarray(0, size), sha256: sha256.digest('hex'), md5: md5.digest(), last: ended }
    }
  } finally {
    // Not awaited: a source that is stuck would never answer.
    if (!ended) source.return?.().catch(() => {})
  }
}

/** One bucket, behind anything that speaks S3. What is being put is not there until S3 has all of it and the checksums agree. */
export default plugin({
  port: BlobStore,
  name: 's3',
  settings: v.strictObject({
    bucket: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9.-]{1,62}$/)),
    region: v.optional(filled, 'us-east-1'),
    /** The address of the server; absent, Amazon's for the region. */
    endpoint: v.optional(v.pipe(v.string(), v.url(), v.regex(/^https?:\/\/[^?#]+$/))),
    /** Where an address has the bucket's name; by default in the path when there is an endpoint, and in the host at Amazon. */
    addressing: v.optional(v.picklist(['path', 'host'])),
    accessKeyId: filled,
    secretAccessKey: filled,
    sessionToken: v.optional(v.string(), ''),
    /** Ms without an answer, or without more of one, after which S3 counts as down. */
    patience: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 15_000),
  }),
  needs: { fetch: Fetch, clock: Clock, random: Random, log: Log },
  create: ({ fetch, clock, random, log }, { bucket, region, endpoint, addressing, patience, ...keys }): BlobStore => {
    const { protocol, host, pathname } = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
    const base = `${host}${pathname.replace(/\/$/, '')}`
    const inHost = (addressing ?? (endpoint ? 'path' : 'host')) === 'host'
    const top = `${protocol}//${inHost ? `${bucket}.${base}` : `${base}/${bucket}`}`
    const identity = { ...keys, service: 's3', region, cache: new Map() }
    let swept: Promise<void> | null = null

    const sign = ({ method, key = '', query = {} }: Step, how: object) => {
      const datetime = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '')
      const url = `${top}/${key}?${new URLSearchParams(query)}`.replace(/\?$/, '')
      return new AwsV4Signer({ method, url, ...identity, datetime, ...how }).sign()
    }

    const once = async (step: Step, signal: AbortSignal): Promise<Answer> => {
      const { method, body } = step
      const sum = body && { 'content-md5': body.md5.toString('base64'), 'content-type': 'application/octet-stream' }
      const named = { ...step.headers, ...sum, 'x-amz-content-sha256': body?.sha256 ?? nothing }
      const { url, headers } = await sign(step, { headers: named })
      const sent = body && { body: body.bytes }
      return fetch.upstream(url.href, { method, headers: Object.fromEntries(headers), ...sent, signal, patience })
    }

    /** Waits for each chunk only so long, and so long for its reader. */
    const watched = async function* (answer: Answer): AsyncGenerator<Uint8Array> {
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

    /** Every step may be taken twice. A refusal that is not allowed, and that another try does not change, is thrown. */
    const ask = async (step: Step, signal = never(), allowed: readonly string[] = []) => {
      const began = clock.now()
      for (let attempt = 1; ; attempt++) {
        let fault: unknown
        try {
          const answer = await once(step, signal)
          const { status, header } = answer
          const chunks: Uint8Array[] = []
          for await (const chunk of watched(answer)) chunks.push(chunk)
          const body = Buffer.concat(chunks)
          const code = /^\w+$/.exec(
            (status >= 300 || step.method === 'POST' ? elements(body, 'Code')[0] : '') ?? '',
          )?.[0]
          if (status < 300 && code === undefined) return { code: null, body, header }
          const why = code ?? `${status}`
          if (allowed.includes(why)) return { code: why, body, header }
          fault = refusal(why)
          if (status >= 300 && status < 500 && ![408, 429].includes(status) && !unlucky.includes(why)) throw fault
        } catch (it) {
          if (signal.aborted) throw signal.reason
          if (!(it instanceof UpstreamFailed)) throw it
          fault = asUnavailable(it)
        }
        if (attempt === tries || clock.now() - began >= patience) throw fault
        await clock.sleep(3 ** attempt * 25 * (1 + random.fraction()), signal)
      }
    }

    /** Gives S3's tag. Where that is the MD5 of what it has, it must be ours. */
    const store = async (key: string, body: Piece, query: Record<string, string>, signal: AbortSignal) => {
      const { header } = await ask({ method: 'PUT', key, query, body }, signal)
      const tag = (header('etag') ?? '').replaceAll('"', '')
      const plain = (header('x-amz-server-side-encryption') ?? 'AES256') === 'AES256'
      if (plain && /^[0-9a-f]{32}$/.test(tag) && tag !== body.md5.toString('hex')) throw refusal('OtherBytes')
      return tag
    }

    const abandon = (key: string, uploadId: string) =>
      ask({ method: 'DELETE', key, query: { uploadId } }, never(), ['NoSuchUpload', '404'])

    /** Uploads of a process that died; a day is longer than any. */
    const sweep = async () => {
      const { body } = await ask({ method: 'GET', query: { uploads: '' } })
      for (const upload of body.toString().split('<Upload>').slice(1)) {
        const [key, id, since] = ['Key', 'UploadId', 'Initiated'].map((name) => elements(upload, name)[0])
        if (key && id && isOurs(key) && Date.parse(since ?? '') < clock.now() - day) await abandon(key, id)
      }
    }

    /** The first bytes from `start` on, and of what they are. */
    const open = async (key: string, start: number, end: number, signal?: AbortSignal) => {
      const range = `bytes=${start}-${Math.max(start, Math.min(end, start + ahead) - 1)}`
      const allowed = ['NoSuchKey', '404', 'InvalidRange', '416']
      const { code, body, header } = await ask({ method: 'GET', key, headers: { range } }, signal, allowed)
      if (code === 'NoSuchKey' || code === '404') return null
      if (code) return { size: null, tag: '', body: body.subarray(0, 0) }
      const size = Number(/^bytes \d+-\d+\/(\d+)$/.exec(header('content-range') ?? '')?.[1])
      if (Number.isNaN(size)) throw refusal('NoRanges')
      return { size, tag: header('etag') ?? '', body: body.subarray(0, Math.max(0, end - start)) }
    }

    /** After what is in hand already, goes on where a broken answer ended, as long as it is the same file. */
    const read = async function* (key: string, tag: string, body: Buffer, from: number, end: number, signal = never()) {
      if (body.length > 0) yield body
      for (let at = from + body.length, stuck = 0; at < end; stuck++) {
        try {
          const headers = { range: `bytes=${at}-${end - 1}`, 'if-match': tag }
          const answer = await once({ method: 'GET', key, headers }, signal)
          if (answer.status !== 206) answer.discard()
          if ([404, 412].includes(answer.status)) throw new Unavailable('The file was replaced while it was read')
          if (answer.status !== 206) throw new UpstreamFailed(undefined, { answered: answer.status })
          for await (const chunk of watched(answer)) {
            at += chunk.length
            stuck = 0
            yield chunk
          }
          if (at < end) throw new UpstreamFailed()
        } catch (fault) {
          if (signal.aborted) throw signal.reason
          if (!(fault instanceof UpstreamFailed)) throw fault
          if (stuck === tries) throw asUnavailable(fault)
          await clock.sleep(50 * (1 + random.fraction()), signal)
        }
      }
    }

    /** The answer to the last step may be lost: then what is there by now tells. */
    const complete = async (key: string, uploadId: string, tags: readonly string[], signal: AbortSignal) => {
      const list = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>"${tag}"</ETag></Part>`).join('')
      const body = piece(Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`))
      const { code } = await ask({ method: 'POST', key, query: { uploadId }, body }, signal, ['NoSuchUpload'])
      const all = piece(Buffer.from(tags.join(''), 'hex')).md5.toString('hex')
      if (code && (await open(key, 0, 1, signal))?.tag !== `"${all}-${tags.length}"`) throw refusal(code)
    }

    return {
      async put(path, bytes, signal = never()) {
        const key = keyOf(path)
        signal.throwIfAborted()
        const tags: string[] = []
        let size = 0
        let uploadId = ''
        let sending: Promise<unknown> = Promise.resolve()
        try {
          for await (const part of cut(bytes, signal)) {
            await sending
            size += part.bytes.length
            if (part.last && !uploadId) return store(key, part, {}, signal).then(() => ({ size }))
            if (!uploadId) {
              swept ??= sweep().catch((cause) => log.error('s3.sweep', {}, cause))
              const { body } = await ask({ method: 'POST', key, query: { uploads: '' } }, signal)
              uploadId = elements(body, 'UploadId')[0] ?? ''
            }
            const query = { partNumber: `${tags.length + 1}`, uploadId }
            sending = store(key, part, query, signal).then((tag) => tags.push(tag))
            // Heard at the next turn; until then it must not count as unheard.
            sending.catch(() => {})
          }
          await sending
          await complete(key, uploadId, tags, signal)
          return { size }
        } catch (fault) {
          await sending.catch(() => {})
          // What led here counts; an upload that can't be given up now is swept another day.
          if (uploadId) await abandon(key, uploadId).catch((cause) => log.error('s3.abandon', {}, cause))
          throw fault
        }
      },
      async get(path, range, signal) {
        const key = keyOf(path)
        const start = range?.start ?? 0
        const to = (range?.end ?? Infinity) + 1
        const found = await open(key, start, to, signal)
        if (!found) return null
        // S3 need not say the size of what ends before the range.
        const size = found.size ?? (start > 0 ? (await open(key, 0, 1, signal))?.size : 0) ?? 0
        return { size, bytes: read(key, found.tag, found.body, start, Math.min(size, to), signal) }
      },
      async remove(path) {
        await ask({ method: 'DELETE', key: keyOf(path) }, never(), ['NoSuchKey', '404'])
      },
      async *list(prefix) {
        // Nothing of ours begins otherwise, and S3 need not understand it.
        if (!/^[\w./-]*$/.test(prefix)) return
        for (let more: {} | null = {}; more;) {
          const { body } = await ask({ method: 'GET', query: { 'list-type': '2', prefix, ...more } })
          for (const key of elements(body, 'Key')) if (isOurs(key)) yield key
          const token = elements(body, 'IsTruncated')[0] === 'true' && elements(body, 'NextContinuationToken')[0]
          more = token ? { 'continuation-token': token } : null
        }
      },
      /** S3 signs none for more than seven days. */
      async link(path, ttl) {
        const query = { 'X-Amz-Expires': `${Math.max(1, Math.ceil(Math.min(7 * day, ttl) / 1000))}` }
        return (await sign({ method: 'GET', key: keyOf(path), query }, { signQuery: true })).url.href
      },
    }
  },
})
