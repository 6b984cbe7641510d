import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { giveTo, helper } from '../../../core/limited-process.ts'
import { Unreadable } from '../../../core/errors.ts'
import { draw } from '../../shared/pictures/raster.ts'
import type { Sound } from '../../shared/sounds/wav.ts'

export interface Frame {
  /** Seconds from the beginning. */
  readonly time: number
  /** JPEG. */
  readonly bytes: Uint8Array
}

export interface Video {
  /** Seconds from the first to the last picture that is really there. */
  readonly duration: number
  /** In the order of time, evenly spread, each from the middle of its share. */
  frames(count: number): Promise<readonly Frame[]>
  /** The beginning of what is heard, 16 kHz and mono; null when there is nothing. */
  sound(seconds: number): Promise<Sound | null>
}

/** Pixels of a picture as it is stored, such as those of 4K; and of the longer side of a frame. */
const mostPixels = 4096 * 2304
const longest = 1024
const mostFrame = 4 * 1024 * 1024
const rate = 16_000

/**
 * Opens a video in MP4, QuickTime, WebM, Matroska or AVI for as long as the work takes. It stands in a file meanwhile, since
 * decoders go back and forth in it. Throws Unreadable for what is none, and Unconfigured without ffmpeg.
 */
export const openVideo = async <T>(
  bytes: Uint8Array,
  signal: AbortSignal,
  work: (video: Video) => Promise<T>,
): Promise<T> => {
  signal.throwIfAborted()
  const container = containerOf(bytes)
  if (container === null) throw new Unreadable()
  const folder = await mkdtemp(join(tmpdir(), 'video-'))
  try {
    const path = join(folder, 'video')
    await writeFile(path, bytes, { mode: 0o600 })
    const user = helper()
    await giveTo(user, folder, path)
    return await work(await read({ path, user }, container, signal))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Named to the decoder, which would else believe a list of other files to be a video. */
const containerOf = (bytes: Uint8Array): 'mov' | 'matroska' | 'avi' | null => {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (/^.{4}(ftyp|moov|mdat|wide|free|skip)/s.test(head)) return 'mov'
  if (head.startsWith('\x1a\x45\xdf\xa3')) return 'matroska'
  return /^RIFF.{4}AVI /s.test(head) ? 'avi' : null
}

interface Laid {
  readonly path: string
  readonly user: number | null
}

const read = async ({ path, user }: Laid, container: string, signal: AbortSignal): Promise<Video> => {
  const ffmpeg = (before: readonly string[], after: readonly string[], most: number) => {
    const given = [
      ...['-nostdin', '-hide_banner', '-loglevel', 'quiet', '-nostats', '-threads', '1', '-filter_threads', '1'],
      ...['-protocol_whitelist', 'file', '-f', container, '-max_pixels', `${mostPixels}`, ...before],
      ...['-i', `file:${path}`, '-map_metadata', '-1', '-sn', '-dn', ...after],
    ]
    return draw({ program: 'ffmpeg', given, input: new Uint8Array(), most, user }, signal)
  }

  const frame = async (time: number): Promise<Frame | null> => {
    const scale = `scale='min(iw,${longest})':'min(ih,${longest})':force_original_aspect_ratio=decrease`
    const encoded = ['-c:v', 'mjpeg', '-q:v', '3', '-pix_fmt', 'yuvj420p', '-threads', '1', '-f', 'mjpeg', 'pipe:1']
    const drawn = ['-map', '0:V:0', '-frames:v', '1', '-vf', scale, ...encoded]
    const at = ['-an', '-ss', time.toFixed(3)]
    const exact = await ffmpeg(at, drawn, mostFrame).catch(nothing)
    // Where the way from the key frame is too long for one decoder, the key frame itself will do.
    const bytes = exact ?? (await ffmpeg(['-noaccurate_seek', ...at], drawn, mostFrame).catch(nothing))
    return bytes && { time, bytes }
  }

  const progress = ['-map', '0:V:0', '-c', 'copy', '-f', 'null', '-progress', 'pipe:1', '/dev/null']
  const told = await ffmpeg(['-an'], progress, mostFrame)
  const duration = lastOf(told)

  return {
    duration,
    async frames(count) {
      const moments = Array.from({ length: count }, (_, index) => ((index + 0.5) / count) * duration)
      // In milliseconds, so that a video of one picture is looked at once.
      const times = [...new Set(moments.map((time) => Math.round(time * 1000) / 1000))]
      const frames = (await Promise.all(times.map(frame))).filter((it) => it !== null)
      if (frames.length === 0) throw new Unreadable()
      return frames
    },
    async sound(seconds) {
      const plain = ['-ac', '1', '-ar', `${rate}`, '-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1']
      const how = ['-map', '0:a:0', '-t', `${seconds}`, ...plain]
      const samples = await ffmpeg(['-vn'], how, 2 * rate * (seconds + 1)).catch(nothing)
      return samples && { rate, channels: 1, bits: 16, samples }
    },
  }
}

const lastOf = (progress: Uint8Array): number => {
  const times = [
    ...Buffer.from(progress)
      .toString('latin1')
      .matchAll(/^out_time_us=(\d+)$/gm),
  ]
  return Number(times.at(-1)?.[1] ?? 0) / 1_000_000
}

const nothing = (error: unknown): null => {
  if (error instanceof Unreadable) return null
  throw error
}
