import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { giveFilesTo, helperUser } from '../../shared/limited-process.ts'
import { Unreadable } from '../../../core/errors.ts'
import { runDecoder } from '../../shared/pictures/raster.ts'
import type { Sound } from '../../shared/sounds/wav.ts'

/** A picture of the video as the model gets it. */
export interface Frame {
  /** In seconds from the beginning. */
  readonly time: number
  /** JPEG. */
  readonly bytes: Uint8Array
}

/** An open video. Its functions work only until the work around them ends. */
export interface Video {
  /** In seconds from the first to the last existing picture. */
  readonly duration: number
  /** Evenly spread in the order of time; each frame comes from the middle of its share. */
  frames(count: number): Promise<readonly Frame[]>
  /** The beginning of the sound, 16 kHz and mono; null without sound. */
  sound(seconds: number): Promise<Sound | null>
}

/** In pixels: the largest stored picture, such as 4K, and the longer side of a frame. */
const mostPixels = 4096 * 2304
const longestPixels = 1024
const mostFrame = 4 * 1024 * 1024
const rate = 16_000

/**
 * Opens a video in MP4, QuickTime, WebM, Matroska or AVI during the work. A file on the disk holds the video, since
 * decoders seek in it. Throws Unreadable when the bytes are no video, and Unconfigured without ffmpeg.
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
    const user = await helperUser()
    await giveFilesTo(user, folder, path)
    return await work(await read({ path, user }, container, signal))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The decoder gets the container's name; otherwise it would accept a list of other files as a video. */
const containerOf = (bytes: Uint8Array): 'mov' | 'matroska' | 'avi' | null => {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (/^.{4}(ftyp|moov|mdat|wide|free|skip)/s.test(head)) return 'mov'
  if (head.startsWith('\x1a\x45\xdf\xa3')) return 'matroska'
  return /^RIFF.{4}AVI /s.test(head) ? 'avi' : null
}

/** `user` is the system user of the decoder; null for that of this process. */
interface VideoOnDisk {
  readonly path: string
  readonly user: number | null
}

const read = async ({ path, user }: VideoOnDisk, container: string, signal: AbortSignal): Promise<Video> => {
  const ffmpeg = (before: readonly string[], after: readonly string[], most: number) => {
    const given = [
      ...['-nostdin', '-hide_banner', '-loglevel', 'quiet', '-nostats', '-threads', '1', '-filter_threads', '1'],
      ...['-protocol_whitelist', 'file', '-f', container, '-max_pixels', `${mostPixels}`, ...before],
      ...['-i', `file:${path}`, '-map_metadata', '-1', '-sn', '-dn', ...after],
    ]
    return runDecoder({ program: 'ffmpeg', given, input: new Uint8Array(), most, user }, signal)
  }

  const frame = async (time: number): Promise<Frame | null> => {
    const scale = `scale='min(iw,${longestPixels})':'min(ih,${longestPixels})':force_original_aspect_ratio=decrease`
    const encoded = ['-c:v', 'mjpeg', '-q:v', '3', '-pix_fmt', 'yuvj420p', '-threads', '1', '-f', 'mjpeg', 'pipe:1']
    const drawn = ['-map', '0:V:0', '-frames:v', '1', '-vf', scale, ...encoded]
    const at = ['-an', '-ss', time.toFixed(3)]
    const exact = await ffmpeg(at, drawn, mostFrame).catch(nothing)
    // The exact frame may be too far from its key frame; then the key frame is used.
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
      // Times are rounded to milliseconds, so that a video with one picture is examined once.
      const times = [...new Set(moments.map((time) => Math.round(time * 1000) / 1000))]
      const frames = (await Promise.all(times.map(frame))).filter((frame) => frame !== null)
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

/** In seconds: ffmpeg reports microseconds, and the last report counts. 0 without a picture. */
const lastOf = (progress: Uint8Array): number => {
  const times = [
    ...Buffer.from(progress)
      .toString('latin1')
      .matchAll(/^out_time_us=(\d+)$/gm),
  ]
  return Number(times.at(-1)?.[1] ?? 0) / 1_000_000
}

/** A decoder that fails on one moment spoils no other. */
const nothing = (error: unknown): null => {
  if (error instanceof Unreadable) return null
  throw error
}
