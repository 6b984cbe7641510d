import { type Bucket, neverAborted, refusal } from './bucket.ts'
import { openHead } from './download.ts'
import { isOwnKey } from './keys.ts'
import { type Part, partOf } from './parts.ts'
import { elements } from './xml.ts'

/** A multipart upload in progress. */
export interface PartedUpload {
  readonly key: string
  readonly uploadId: string
}

/**
 * Stores a part, or a whole file without `query`, and returns S3's tag. A tag in the form of an MD5 must match the
 * body.
 */
export const store = async (
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
export const begin = async ({ ask }: Bucket, key: string, signal: AbortSignal): Promise<PartedUpload> => {
  const { body } = await ask({ method: 'POST', key, query: { uploads: '' } }, signal)
  const [uploadId] = elements(body, 'UploadId')
  if (!uploadId) throw refusal('NoUploadId')
  return { key, uploadId }
}

/**
 * S3 keeps the parts of an upload until it is joined or abandoned. An upload that is gone counts as
 * abandoned.
 */
export const abandon = async ({ ask }: Bucket, { key, uploadId }: PartedUpload): Promise<void> => {
  await ask({ method: 'DELETE', key, query: { uploadId } }, neverAborted(), ['NoSuchUpload', '404'])
}

/** Abandons the uploads of dead processes: all that began before `before`. */
export const sweep = async (bucket: Bucket, before: number): Promise<void> => {
  const { body } = await bucket.ask({ method: 'GET', query: { uploads: '' } })
  for (const upload of body.toString().split('<Upload>').slice(1)) {
    const [key, uploadId, since] = ['Key', 'UploadId', 'Initiated'].map((name) => elements(upload, name)[0])
    if (key && uploadId && isOwnKey(key) && Date.parse(since ?? '') < before) await abandon(bucket, { key, uploadId })
  }
}

/** Joins the parts with these tags. When the answer is lost, the tag of the stored file decides. */
export const complete = async (
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
