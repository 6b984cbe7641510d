import { BadRequest } from '../../../core/errors.ts'
import type { Clock, Fetch } from '../../../core/ports/platform.ts'
import type { Media, Spoken, Transcript } from '../../../core/ports/upstream.ts'
import { accepted, garbled, readBytes } from '../../shared/backend.ts'
import type { JsonObject } from '../../../core/dialects/json-object.ts'

/** One vector a text in their order, from base64 of little-endian floats or from plain numbers. */
export const vectorsOf = (data: unknown, texts: number): readonly Float32Array[] => {
  if (!Array.isArray(data) || data.length !== texts) throw garbled('Not one vector a text')
  const vectors: Float32Array[] = new Array(texts)
  for (const [place, { index = place, embedding }] of (data as { index?: number; embedding: unknown }[]).entries()) {
    vectors[index] = vectorOf(embedding)
  }
  for (let at = 0; at < texts; at++) if (!vectors[at]) throw garbled('Not one vector a text')
  return vectors
}

const vectorOf = (embedding: unknown): Float32Array => {
  if (Array.isArray(embedding)) return new Float32Array(embedding)
  if (typeof embedding !== 'string') throw garbled('A vector that is none')
  const bytes = Buffer.from(embedding, 'base64')
  const vector = new Float32Array(bytes.length >> 2)
  for (let at = 0; at < vector.length; at++) vector[at] = bytes.readFloatLE(at * 4)
  return vector
}

/** Times are in seconds. Throws UpstreamFailed for an answer without a text. */
export const transcriptOf = (body: JsonObject): Transcript => {
  const { text, language, duration, segments, words } = body
  if (typeof text !== 'string') throw garbled('A transcript without a text')
  const speakers = new Map<unknown, number>()
  const spoken = (spokenBody: JsonObject): Spoken => ({
    text: String(spokenBody['text'] ?? spokenBody['word'] ?? ''),
    start: Number(spokenBody['start'] ?? 0),
    end: Number(spokenBody['end'] ?? 0),
    ...(spokenBody['speaker'] != null && { speaker: numbered(speakers, spokenBody['speaker']) }),
  })
  const { seconds } = (body['usage'] ?? {}) as { readonly seconds?: unknown }
  return {
    text,
    language: typeof language === 'string' ? language : null,
    // Some say it with the usage alone.
    duration: lengthOf(duration) ?? lengthOf(seconds),
    segments: Array.isArray(segments) ? segments.map(spoken) : [],
    words: Array.isArray(words) ? words.map(spoken) : [],
    answer: body,
  }
}

/** Seconds, which some say in a string; null for what is no length. */
export const lengthOf = (told: unknown): number | null => {
  const length = typeof told === 'number' || (typeof told === 'string' && told !== '') ? Number(told) : Number.NaN
  return length >= 0 && length < Infinity ? length : null
}

/** Speakers by name become numbers in the order they are heard. */
const numbered = (speakers: Map<unknown, number>, speaker: unknown): number => {
  if (typeof speaker === 'number') return speaker
  const number = speakers.get(speaker) ?? speakers.size
  speakers.set(speaker, number)
  return number
}

/** An image in the answer, or behind an address that the backend names: that one is fetched through the door for strangers. */
export const mediaOf = async (image: JsonObject, fetch: Fetch, clock: Clock, signal: AbortSignal): Promise<Media> => {
  const { b64_json, url } = image
  if (typeof b64_json === 'string') return media(Buffer.from(b64_json, 'base64'))
  if (typeof url !== 'string') throw garbled('An image that is none')
  const data = /^data:[^,]*;base64,/.exec(url)
  if (data) return media(Buffer.from(url.slice(data[0].length), 'base64'))
  try {
    return media(await readBytes(await accepted(await fetch.outside(url, { method: 'GET', signal }), clock)))
  } catch (cause) {
    // The caller has not named the address.
    throw cause instanceof BadRequest ? garbled('An image out of reach', null, cause) : cause
  }
}

const media = (bytes: Buffer): Media => ({ mime: mimeOfImage(bytes), bytes })

/** The first bytes decide; PNG is the rest. */
const mimeOfImage = (bytes: Buffer): string => {
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return 'image/jpeg'
  if (bytes.subarray(8, 12).toString('latin1') === 'WEBP') return 'image/webp'
  if (bytes.subarray(0, 3).toString('latin1') === 'GIF') return 'image/gif'
  return 'image/png'
}

const mimes: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

/** The type of a sound by the format that the caller named. */
export const mimeOfFormat = (format: string): string => mimes[format] ?? 'application/octet-stream'
