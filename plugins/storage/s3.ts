import * as v from 'valibot'
import { plugin } from '../../core/plugin.ts'
import { BlobStore } from '../../core/ports/blob-store.ts'
import { Clock, Fetch, Log, Random } from '../../core/ports/platform.ts'
import { timer } from '../../core/settings.ts'
import { neverAborted, openBucket, type Bucket, refusal } from './s3/bucket.ts'
import { openHead, readOn } from './s3/download.ts'
import { isOwnKey, keyOf } from './s3/keys.ts'
import { cutIntoParts, type Part, partOf } from './s3/parts.ts'
import { elements } from './s3/xml.ts'

/** Ms of a day, and between two looks for remains of uploads. */
const [dayMs, sweepMs] = [86_400_000, 3_600_000]
const filled = v.pipe(v.string(), v.minLength(1))

/** One bucket on any S3 server. A file appears when S3 has all bytes and the checksums match. */
export default plugin({
  port: BlobStore,
  name: 's3',
  settings: v.strictObject({
    bucket: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9.-]{1,62}$/, 'the name of a bucket')),
    region: v.optional(filled, 'us-east-1'),
    /** The address of the server; Amazon's address for the region by default. */
    endpoint: v.optional(
      v.pipe(
        v.string(),
        v.url('an address that begins with http:// or https://'),
        v.regex(/^https?:\/\/[^?#]+$/, 'an address that begins with http:// or https://, without a query'),
      ),
    ),
    /** The place of the bucket's name: by default the path with an endpoint, and the host at Amazon. */
    addressing: v.optional(v.picklist(['path', 'host'])),
    accessKeyId: filled,
    secretAccessKey: filled,
    sessionToken: v.optional(v.string(), ''),
    /** In ms: after this time without an answer, or between two chunks of one, S3 counts as down. */
    patience: v.optional(timer(), 15_000),
  }),
  needs: { fetch: Fetch, clock: Clock, random: Random, log: Log },
  create: (platform, { bucket: name, region, endpoint, addressing, patience, ...keys }): BlobStore => {
    const { clock, log } = platform
    const bucket = openBucket(platform, { bucket: name, region, endpoint, addressing, patience, keys })
    let sweepAt = 0

    const beginAfterSweep = (key: string, signal: AbortSignal): Promise<PartedUpload> => {
      const now = clock.now()
      if (now >= sweepAt) {
        sweepAt = now + sweepMs
        // The sweep spares uploads younger than a day: no upload takes that long.
        void sweep(bucket, now - dayMs).catch((cause) => log.error('s3.sweep', {}, cause))
      }
      return begin(bucket, key, signal)
    }

    return {
      /** A part is sent while the next part is collected; S3 joins the parts after the last. */
      async put(path, bytes, signal = neverAborted()) {
        const key = keyOf(path)
        signal.throwIfAborted()
        const tags: string[] = []
        let size = 0
        let upload: PartedUpload | null = null
        let sending: Promise<unknown> = Promise.resolve()
        try {
          for await (const part of cutIntoParts(bytes, signal)) {
            await sending
            size += part.bytes.length
            if (part.isLast && !upload) return store(bucket, key, part, {}, signal).then(() => ({ size }))
            upload ??= await beginAfterSweep(key, signal)
            const query = { partNumber: `${tags.length + 1}`, uploadId: upload.uploadId }
            sending = store(bucket, key, part, query, signal).then((tag) => tags.push(tag))
            // The next iteration awaits the promise; a failure before that must not count as unhandled.
            sending.catch(() => {})
          }
          await sending
          if (upload) await complete(bucket, upload, tags, signal)
          return { size }
        } catch (fault) {
          await sending.catch(() => {})
          // The first failure is thrown. A later sweep removes an upload that cannot be abandoned now.
          if (upload) await abandon(bucket, upload).catch((cause) => log.error('s3.abandon', {}, cause))
          throw fault
        }
      },
      async get(path, range, signal) {
        const key = keyOf(path)
        const start = range?.start ?? 0
        const to = (range?.end ?? Infinity) + 1
        const head = await openHead(bucket, key, start, to, signal)
        if (!head) return null
        // S3 may omit the size of a file that ends before the range.
        const size = head.size ?? (start > 0 ? (await openHead(bucket, key, 0, 1, signal))?.size : 0) ?? 0
        return { size, bytes: readOn(bucket, platform, { key, head, start, end: Math.min(size, to) }, signal) }
      },
      /** A file that does not exist counts as removed. */
      async remove(path) {
        await bucket.ask({ method: 'DELETE', key: keyOf(path) }, neverAborted(), ['NoSuchKey', '404'])
      },
      async *list(prefix) {
        // No key of this store has another prefix, and S3 may not understand one.
        if (!/^[\w./-]*$/.test(prefix)) return
        for (let more: Readonly<Record<string, string>> | null = {}; more;) {
          const query: Readonly<Record<string, string>> = { 'list-type': '2', prefix, ...more }
          const { body } = await bucket.ask({ method: 'GET', query })
          for (const key of elements(body, 'Key')) if (isOwnKey(key)) yield key
          const token: string | undefined = elements(body, 'NextContinuationToken')[0]
          more = token && elements(body, 'IsTruncated')[0] === 'true' ? { 'continuation-token': token } : null
        }
      },
      /** S3 signs links for at most seven days. */
      async link(path, ttl) {
        const seconds = Math.max(1, Math.ceil(Math.min(7 * dayMs, ttl) / 1000))
        return bucket.link({ method: 'GET', key: keyOf(path), query: { 'X-Amz-Expires': `${seconds}` } })
      },
    }
  },
})

/** A multipart upload in progress. */
interface PartedUpload {
  readonly key: string
  readonly uploadId: string
}

/** Stores a part, or a whole file without `query`. S3's tag must match where it has the form of an MD5. */
const store = async (
  { ask }: Bucket,
  key: string,
  body: Part,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> => {
  const { header } = await ask({ method: 'PUT', key, query, body }, signal)
  const tag = (header('etag') ?? '').replaceAll('"', '')
  const isPlain = (header('x-amz-server-side-encryption') ?? 'AES256') === 'AES256'
  if (isPlain && /^[0-9a-f]{32}$/.test(tag) && tag !== body.md5.toString('hex')) throw refusal('OtherBytes')
  return tag
}

/** Begins an upload in parts. The file with this key stays as it is until the parts are joined. */
const begin = async ({ ask }: Bucket, key: string, signal: AbortSignal): Promise<PartedUpload> => {
  const { body } = await ask({ method: 'POST', key, query: { uploads: '' } }, signal)
  const [uploadId] = elements(body, 'UploadId')
  if (!uploadId) throw refusal('NoUploadId')
  return { key, uploadId }
}

/** S3 keeps the parts of an upload until it is joined or abandoned. An upload that is gone counts as abandoned. */
const abandon = async ({ ask }: Bucket, { key, uploadId }: PartedUpload): Promise<void> => {
  await ask({ method: 'DELETE', key, query: { uploadId } }, neverAborted(), ['NoSuchUpload', '404'])
}

/** Abandons the uploads of dead processes: all that began before `before`. */
const sweep = async (bucket: Bucket, before: number): Promise<void> => {
  const { body } = await bucket.ask({ method: 'GET', query: { uploads: '' } })
  for (const upload of body.toString().split('<Upload>').slice(1)) {
    const [key, uploadId, since] = ['Key', 'UploadId', 'Initiated'].map((name) => elements(upload, name)[0])
    if (key && uploadId && isOwnKey(key) && Date.parse(since ?? '') < before) await abandon(bucket, { key, uploadId })
  }
}

/** Joins the parts with these tags. When the answer is lost, the tag of the stored file decides. */
const complete = async (
  bucket: Bucket,
  { key, uploadId }: PartedUpload,
  tags: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  const list = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>"${tag}"</ETag></Part>`).join('')
  const body = partOf(Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`))
  const { code } = await bucket.ask({ method: 'POST', key, query: { uploadId }, body }, signal, ['NoSuchUpload'])
  if (code === null) return
  const sum = partOf(Buffer.from(tags.join(''), 'hex')).md5.toString('hex')
  if ((await openHead(bucket, key, 0, 1, signal))?.tag !== `"${sum}-${tags.length}"`) throw refusal(code)
}
