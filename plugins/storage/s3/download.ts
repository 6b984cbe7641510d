import { Unavailable, UpstreamFailed } from '../../../core/errors.ts'
import type { Clock, Random } from '../../../core/ports/platform.ts'
import { asUnavailable, type Bucket, maxTries, neverAborted, refusal } from './bucket.ts'

/** In bytes, read before `get` answers: a small file takes one request. */
const headBytes = 64 * 1024

/** The first bytes of a file from a start. */
export interface Head {
  /** The size of the whole file; null when the start lies after its end. */
  readonly size: number | null
  readonly tag: string
  readonly body: Buffer
}

/** Null when the file does not exist. `end` is the position after the last byte. */
export const openHead = async (
  { ask }: Bucket,
  key: string,
  start: number,
  end: number,
  signal?: AbortSignal,
): Promise<Head | null> => {
  const range = `bytes=${start}-${Math.max(start, Math.min(end, start + headBytes) - 1)}`
  const allowed = ['NoSuchKey', '404', 'InvalidRange', '416']
  const { code, body, header } = await ask({ method: 'GET', key, headers: { range } }, signal, allowed)
  if (code === 'NoSuchKey' || code === '404') return null
  if (code) return { size: null, tag: '', body: body.subarray(0, 0) }
  const size = Number(/^bytes \d+-\d+\/(\d+)$/.exec(header('content-range') ?? '')?.[1])
  if (Number.isNaN(size)) throw refusal('NoRanges')
  return { size, tag: header('etag') ?? '', body: body.subarray(0, Math.max(0, end - start)) }
}

/** The bytes of a head and all later bytes. A broken answer is continued at its end while the file is unchanged. */
export const readOn = async function* (
  bucket: Bucket,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  {
    key,
    head,
    start,
    end,
  }: { readonly key: string; readonly head: Head; readonly start: number; readonly end: number },
  signal: AbortSignal = neverAborted(),
): AsyncGenerator<Uint8Array> {
  if (head.body.length > 0) yield head.body
  for (let at = start + head.body.length, stuck = 0; at < end; stuck++) {
    try {
      const headers = { range: `bytes=${at}-${end - 1}`, 'if-match': head.tag }
      const answer = await bucket.send({ method: 'GET', key, headers }, signal)
      if (answer.status !== 206) answer.discard()
      if ([404, 412].includes(answer.status)) throw new Unavailable('The file was replaced while it was read')
      if (answer.status !== 206) throw new UpstreamFailed(undefined, { answered: answer.status })
      for await (const chunk of bucket.chunks(answer)) {
        at += chunk.length
        stuck = 0
        yield chunk
      }
      if (at < end) throw new UpstreamFailed()
    } catch (fault) {
      if (signal.aborted) throw signal.reason
      if (!(fault instanceof UpstreamFailed)) throw fault
      if (stuck === maxTries) throw asUnavailable(fault)
      await clock.sleep(50 * (1 + random.fraction()), signal)
    }
  }
}
