import { BadRequest } from '../../../core/errors.ts'
import type { Media } from '../../../core/ports/upstream.ts'
import { runDecoder } from '../pictures/raster.ts'
import { soundFormats } from './speech-bounds.ts'
import { wavOf, type Sound } from './wav.ts'

/** The formats beside wav and pcm, which need ffmpeg. */
const packed: Readonly<Record<string, { readonly mime: string; readonly how: readonly string[] }>> = {
  mp3: { mime: 'audio/mpeg', how: ['-c:a', 'libmp3lame', '-b:a', '64k', '-f', 'mp3'] },
  opus: { mime: 'audio/ogg', how: ['-c:a', 'libopus', '-b:a', '32k', '-compression_level', '4', '-f', 'ogg'] },
  aac: { mime: 'audio/aac', how: ['-c:a', 'aac', '-aac_coder', 'fast', '-b:a', '64k', '-f', 'adts'] },
  flac: { mime: 'audio/flac', how: ['-c:a', 'flac', '-f', 'flac'] },
}

/** Encodes a whole sound. Rejects with Unreadable when ffmpeg fails. */
export type Packing = (sound: Sound, signal: AbortSignal) => Promise<Media>

/** Throws BadRequest for a format outside `soundFormats`. The result throws Unconfigured without ffmpeg. */
export const packingOf = (format: string): Packing => {
  if (format === 'wav') return async (sound) => ({ mime: 'audio/wav', bytes: wavOf(sound) })
  if (format === 'pcm') {
    return async ({ rate, channels, samples }) => ({
      mime: `audio/pcm;rate=${rate};channels=${channels}`,
      bytes: samples,
    })
  }
  const wanted = Object.hasOwn(packed, format) ? packed[format] : undefined
  if (wanted) return async (sound, signal) => ({ mime: wanted.mime, bytes: await encoded(sound, wanted.how, signal) })
  throw new BadRequest('Unknown sound format', { validator: { format: `Expected ${soundFormats.join(', ')}` } })
}

/** No format here is much longer than WAV: 64 KiB are room for the heads of short sounds. */
const encoded = (sound: Sound, how: readonly string[], signal: AbortSignal): Promise<Uint8Array> => {
  const input = wavOf(sound)
  const given = [
    ...['-nostdin', '-hide_banner', '-loglevel', 'quiet', '-threads', '1', '-protocol_whitelist', 'pipe'],
    ...['-f', 'wav', '-i', 'pipe:0', ...how, '-bitexact', '-map_metadata', '-1', 'pipe:1'],
  ]
  return runDecoder({ program: 'ffmpeg', given, input, most: input.length + 65_536 }, signal)
}
