import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { clock, log, random } from '../../adapters/memory/platform.ts'
import { fetch } from '../../adapters/production/platform.ts'
import { type AnyPlugin, use } from '../../core/plugin.ts'
import { Upstream } from '../../core/ports/upstream.ts'
import type { Counter } from './counter.ts'
import type { Scene, Stage } from './upstream.ts'
import { fitted } from '../fitted.ts'
import { recorded, type Asked, type Recorded, type Take } from '../fakes/recorded.ts'

/** Ends with the test: a test of tap's, or what another runner has for it, as `{ teardown: (end) => t.after(end) }`. */
export interface Lasting {
  teardown(end: () => void | Promise<void>): unknown
}

/** The root of the package, from the source and from what is built of it. */
const root = new URL(/\/dist\/test\/contracts\//.test(import.meta.url) ? '../../../' : '../../', import.meta.url)

/** The package holds all recordings in one file, where a character is a byte. */
const packed = new URL('dist/test/recordings.json', root)

export const vector = async (path: string): Promise<Buffer> => {
  if (!existsSync(packed)) return readFile(new URL(`test/vectors/providers/${path}`, root))
  const recordings = JSON.parse(await readFile(packed, 'utf8')) as Readonly<Record<string, string>>
  if (recordings[path] === undefined) throw new Error(`there is no recording ${path}`)
  return Buffer.from(recordings[path], 'latin1')
}

/** The upstream that a provider makes, with a real network beneath it. Everything is closed with the test. */
export const provided = async (t: Lasting, provider: AnyPlugin, settings: object): Promise<Upstream> => {
  const container = fitted(use(clock), use(random), use(log), use(fetch), use(provider, settings))
  t.teardown(() => container.dispose())
  return container.supply({ upstreams: Upstream }).upstreams[0] as Upstream
}

export const backend = async (t: Lasting, play: (request: Asked) => Take | Promise<Take>): Promise<Recorded> => {
  const backend = await recorded(play)
  t.teardown(() => backend.close())
  return backend
}

export interface Recording {
  readonly provider: AnyPlugin
  readonly settings: (url: string) => object
  readonly model: string
  /** The folder with its recorded answers: of those here by its name, or one of one's own by its URL, with a slash at the end. */
  readonly vectors: string | URL
  /** How its streams are written: the ending of the files, and their content type. */
  readonly stream: { readonly ending: 'sse' | 'ndjson'; readonly type: string; readonly broken: string }
  /** The bytes on the wire of a recorded stream, where it is recorded in a readable form. */
  readonly encode?: (stream: Buffer) => Uint8Array
  readonly lists: RegExp
  readonly chats: RegExp
  /** Where the backend counts tokens: its answer is `count.json`. */
  readonly counts?: RegExp
  /** Where the path tells that a stream is wanted, and not the body. */
  readonly streams?: (path: string) => boolean
}

export const eventStream = {
  ending: 'sse',
  type: 'text/event-stream; charset=utf-8',
  broken: 'data: {"id": nothing\n\n',
} as const
export const lineStream = { ending: 'ndjson', type: 'application/x-ndjson', broken: '{"model": nothing\n' } as const

const playedFrom = ({ vectors }: Recording, file: string): Promise<Buffer> =>
  typeof vectors === 'string' ? vector(`${vectors}/${file}`) : readFile(new URL(file, vectors))

const json = { 'content-type': 'application/json' }

const statuses: Readonly<Record<string, number>> = { refuses: 400, denies: 401, limits: 429, breaks: 500 }

/** A provider in front of its recorded answers. */
export const staged = async (t: Lasting, value: Recording): Promise<Stage> => {
  let scene: Scene = 'answers'
  let last: Readonly<Record<string, unknown>> = {}
  const { ending, type, broken } = value.stream

  const play = async ({ path, body }: Asked): Promise<Take> => {
    if (scene === 'page') {
      return { headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>secret-of-the-backend' }
    }
    if (value.lists.test(path)) return { headers: json, body: await playedFrom(value, 'models.json') }
    const counts = value.counts?.test(path) === true
    if (!counts && !value.chats.test(path)) return { status: 404, headers: json, body: '{}' }
    last = JSON.parse(body.toString())
    if (scene === 'silent') return { body: '', pace: 'silent' }
    const status = typeof scene === 'string' ? statuses[scene] : undefined
    if (status !== undefined) {
      const headers = status === 429 ? { ...json, 'retry-after': '7' } : json
      return { status, headers, body: await playedFrom(value, `error-${status}.json`) }
    }
    const streams = !counts && (last['stream'] === true || value.streams?.(path) === true)
    const headers = streams ? { 'content-type': type } : json
    const end = streams ? ending : 'json'
    const encode = (bytes: Buffer) => Buffer.from(streams && value.encode ? value.encode(bytes) : bytes)
    if (scene === 'complains' && streams)
      return { headers, body: encode(await playedFrom(value, `stream-error.${end}`)) }
    const played = counts ? 'count' : scene === 'calls tools' ? 'tools' : 'chat'
    const recording = await playedFrom(value, `${played}.${end}`)
    // A count whose numbers are words.
    if (scene === 'garbles' && counts) return { headers, body: recording.toString().replaceAll(/\d+/g, '"many"') }
    if (scene === 'garbles' && streams) {
      const half =
        recording.indexOf('\n\n', recording.length >> 1) < 0
          ? recording.indexOf('\n', recording.length >> 1) + 1
          : recording.indexOf('\n\n', recording.length >> 1) + 2
      const parts = [recording.subarray(0, half), Buffer.from(broken), recording.subarray(half)]
      return { headers, body: encode(Buffer.concat(parts)) }
    }
    const bytes = encode(recording)
    if (scene === 'dribbles') return { headers, body: bytes, pace: 'bytewise' }
    if (typeof scene === 'string') return { headers, body: bytes }
    const [how, share] = Object.entries(scene)[0] as ['cut', number]
    return { headers, body: bytes, pace: { [how]: Math.floor(share * bytes.length) } as { cut: number } }
  }

  const server = await backend(t, play)
  const upstream = await provided(t, value.provider, value.settings(server.url))
  return { upstream, model: value.model, scene: (to) => void (scene = to), asked: () => last, sockets: server.open }
}

/** A provider in front of its recorded count. */
export const stagedCount = async (t: Lasting, recording: Recording): Promise<Counter> => ({
  ...(await staged(t, recording)),
  tokens: 21,
})

/** Plays a stream cut after every single byte, and whole once: whether each was told as what it is. */
export const everyCut = async (
  t: Lasting,
  value: Recording,
): Promise<{ readonly bytes: number; readonly fooled: readonly number[] }> => {
  const recording = await playedFrom(value, `chat.${value.stream.ending}`)
  const bytes = Buffer.from(value.encode?.(recording) ?? recording)
  let at = 0
  const server = await backend(t, () => ({
    headers: { 'content-type': value.stream.type },
    body: bytes,
    pace: { end: at },
  }))
  const upstream = await provided(t, value.provider, value.settings(server.url))
  const fooled: number[] = []
  for (at = 0; at <= bytes.length; at++) {
    try {
      const answer = await upstream.chat!(
        { model: value.model, stream: true, body: { messages: [{ role: 'user', content: 'Hi' }] } },
        new AbortController().signal,
      )
      if (answer.kind === 'chunks') for await (const _ of answer.chunks);
      fooled.push(at)
    } catch {
      continue
    }
  }
  return { bytes: bytes.length, fooled }
}
