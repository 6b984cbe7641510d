import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { startLimited, endOf, giveFilesTo, helperUser } from '../limited-process.ts'
import { BadRequest } from '../../../core/errors.ts'

/** Seconds of work, and ms by the wall, for one decoder. */
const work = 10
const patienceMs = 8_000

/** 1920 by 1080, and the rows that make the height a multiple of sixteen. */
const mostPixels = 1920 * 1088

/** Seconds that a seek stays ahead of the picture it is after, so that rounding does not lose that. */
const early = 0.0005

// All callers together get as many decoders at once as there are cores.
const turn = pLimit(availableParallelism())

/** Pictures of an MP4 file at these seconds, as JPEG. Throws BadRequest when one can't be read, or nothing here can read any. */
export const framesAt = (
  video: Uint8Array,
  seconds: readonly number[],
  signal: AbortSignal,
  decoder = 'ffmpeg',
): Promise<readonly Uint8Array[]> =>
  turn(async () => {
    signal.throwIfAborted()
    const folder = await mkdtemp(join(tmpdir(), 'frames-'))
    try {
      const source = join(folder, 'video')
      const user = await helperUser()
      await writeFile(source, video, { mode: 0o600 })
      await giveFilesTo(user, folder, source)
      const pictures = seconds.map((_, index) => join(folder, `${index}.jpg`))
      await run(decoder, argumentsFor(source, seconds, pictures), user, signal)
      const frames: readonly (Uint8Array | null)[] = await Promise.all(
        pictures.map((picture) => readFile(picture).catch(() => null)),
      )
      if (!frames.every(isJpeg)) throw new BadRequest('The video could not be sampled')
      return frames
    } finally {
      // A decoder that was ended may still write for a moment.
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    }
  })

const isJpeg = (bytes: Uint8Array | null): bytes is Uint8Array =>
  bytes !== null && bytes.length > 3 && bytes[0] === 0xff && bytes[1] === 0xd8

/** One input a picture, so that each is sought from the key frame before it. */
const argumentsFor = (source: string, seconds: readonly number[], pictures: readonly string[]): readonly string[] => [
  ...['-nostdin', '-hide_banner', '-loglevel', 'quiet', '-threads', '1', '-filter_threads', '1'],
  ...seconds.flatMap((at) => [
    ...['-protocol_whitelist', 'file,pipe', '-f', 'mov', '-max_pixels', `${mostPixels}`, '-threads', '1'],
    ...['-an', '-sn', '-dn', '-ss', Math.max(0, at - early).toFixed(4), '-i', source],
  ]),
  ...pictures.flatMap((picture, index) => [
    ...[
      '-map',
      `${index}:V:0`,
      '-frames:v',
      '1',
      '-c:v',
      'mjpeg',
      '-q:v',
      '3',
      '-pix_fmt',
      'yuvj420p',
      '-threads',
      '1',
    ],
    ...['-f', 'image2', '-update', '1', picture],
  ]),
]

/** Nothing of what the decoder says is read. */
const run = async (
  program: string,
  given: readonly string[],
  user: number | null,
  signal: AbortSignal,
): Promise<void> => {
  const child = await startLimited({ program, given, work, patience: patienceMs, writes: true, user }, 'ignore', signal)
  const end = await endOf(child, signal)
  if (end === 'missing') throw new BadRequest('This deployment cannot sample video')
  if (end === 'failed') throw new BadRequest('The video could not be sampled')
}
