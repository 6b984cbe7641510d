import { type DecisionRequest, invalid } from './typed-decision.ts'
import { BadRequest } from '../../../core/errors.ts'
import type { Clock } from '../../../core/ports/platform.ts'
import { framesAt } from '../video/video-frames.ts'
import { type ImageFormat, imageHeadOf } from '../image-heads.ts'
import { readMp4 } from '../video/mp4.ts'

const mebibyte = 1024 * 1024
const image = { bytes: 20 * mebibyte, side: 8192 }
const video = { bytes: 10 * mebibyte, seconds: 30, long: 1920, short: 1080 }
const frames = 4

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

/** The bytes of a base64 data URL, or null when they are not base64 or more than `most`. */
const bytesOf = (url: string, most: number): Uint8Array | null => {
  const comma = url.indexOf(',') + 1
  const length = url.length - comma
  if (length % 4 !== 0 || (length / 4) * 3 > most + 2) return null
  const text = url.slice(comma)
  if (!base64.test(text)) return null
  const bytes = Buffer.from(text, 'base64')
  return bytes.length > 0 && bytes.length <= most ? bytes : null
}

/** Throws BadRequest for an image that is not what it says, or so large that nobody should decode it. */
const checkImage = (url: string, path: string): void => {
  const kind = /^data:image\/(png|jpeg|webp|gif|bmp);base64,/.exec(url)?.[1] as ImageFormat | undefined
  const bytes = kind ? bytesOf(url, image.bytes) : null
  if (!kind || !bytes) throw invalid([[path, 'expected base64 of 20 MiB at most']])
  const head = imageHeadOf(bytes)
  if (head?.format !== kind || head.width <= 0 || head.height <= 0)
    throw invalid([[path, 'expected an image of the kind that its data URL names']])
  if (head.width > image.side || head.height > image.side) {
    throw invalid([[path, 'expected an image of 8192 x 8192 pixels at most']])
  }
}

/** Four frames of a video, evenly spread, as data URLs. Throws BadRequest before any decoder sees a video beyond the limits. */
export const framesOf = async (
  url: string,
  path: string,
  signal: AbortSignal,
  decoder?: string,
): Promise<readonly string[]> => {
  const bytes = bytesOf(url, video.bytes)
  if (!bytes) throw invalid([[path, 'expected base64 of 10 MiB at most']])
  const told = readMp4(bytes)
  if (told === null) throw invalid([[path, 'expected an MP4 video']])
  if (told.duration > video.seconds) throw invalid([[path, 'expected a video of 30 seconds at most']])
  const [short, long] = [Math.min(told.width, told.height), Math.max(told.width, told.height)]
  if (long > video.long || short > video.short)
    throw invalid([[path, 'expected a video of 1920 x 1080 pixels at most']])
  const moments = Array.from({ length: frames }, (_, index) => told.since(((index + 0.5) / frames) * told.shown))
  const pictures = await framesAt(bytes, moments, signal, decoder)
  return pictures.map((picture) => `data:image/jpeg;base64,${Buffer.from(picture).toString('base64')}`)
}

/** The images of a request as a backend gets them: its own one, or the frames of its video. */
export const picturesOf = async (
  { images, videos }: { readonly images: readonly string[]; readonly videos: readonly string[] },
  signal: AbortSignal,
): Promise<readonly string[]> => {
  for (const [index, url] of images.entries()) checkImage(url, `images.${index}`)
  const sampled: string[] = []
  for (const [index, url] of videos.entries()) sampled.push(...(await framesOf(url, `videos.${index}`, signal)))
  return [...images, ...sampled]
}

/** Media that take longer than the whole request may are the caller's, so that no client sends them again. */
export const picturesWithin = async (
  request: Pick<DecisionRequest, 'images' | 'videos'>,
  ms: number,
  clock: Clock,
  left: AbortSignal,
): Promise<readonly string[]> => {
  if (request.images.length + request.videos.length === 0) return []
  const late = new AbortController()
  const alarm = clock.alarm(ms, () => late.abort(new BadRequest('The media could not be read in time')))
  try {
    return await picturesOf(request, AbortSignal.any([left, late.signal]))
  } finally {
    alarm.off()
  }
}
