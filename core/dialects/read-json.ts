import { Worker } from 'node:worker_threads'
import { BadRequest, Unavailable } from '../errors.ts'
import { decodeJson, type Reading } from './decode-json.ts'
import type { Read } from './json-thread.ts'
import { mostElements } from './json.ts'

/** Bytes of JSON that are read on the main loop; a longer text would stall every other call. */
const mainLoopBytes = 1024 * 1024

interface Job {
  readonly reading: Reading
  settle(read: Read | null): void
}

const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const source = new URL(`./json-thread${ending}`, import.meta.url)

const waiting: Job[] = []
let thread: Worker | null = null
let running: Job | null = null

const started = (): Worker => {
  const fresh = new Worker(source, { execArgv: [], env: {} })
  const ended = (read: Read | null) => {
    running?.settle(read)
    running = null
    next()
  }
  const lost = () => {
    if (thread !== fresh) return
    thread = null
    ended(null)
  }
  fresh.on('message', ended)
  fresh.on('error', lost)
  fresh.on('exit', lost)
  return fresh
}

const next = (): void => {
  if (running !== null) return
  running = waiting.shift() ?? null
  if (running === null) return thread?.unref()
  thread ??= started()
  thread.ref()
  const { bytes } = running.reading
  // The bytes of a whole buffer move to the thread without a copy.
  const whole = bytes.byteLength === bytes.buffer.byteLength
  thread.postMessage(running.reading, whole ? [bytes.buffer as ArrayBuffer] : [])
}

const readInThread = (reading: Reading): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const settle = (read: Read | null) => {
      if (read === null) reject(new Unavailable())
      else if (read.kind === 'value') resolve(read.value)
      else reject(new BadRequest(read.message, { validator: read.validator }))
    }
    waiting.push({ reading, settle })
    next()
  })

/**
 * JSON of a body, in time and memory that its length bounds; a long one is read in a thread. The bytes belong to this
 * call afterwards. `relayed` gives `Relayed`. Throws BadRequest for anything but UTF-8 JSON of at most `most` elements.
 */
export const readJson = (bytes: Uint8Array, form: Reading['form'], most = mostElements): unknown => {
  if (bytes.length > mainLoopBytes) return readInThread({ bytes, form, most })
  return decodeJson({ bytes, form, most })
}
