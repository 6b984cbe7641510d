import { isUtf8 } from 'node:buffer'
import { BadRequest, UpstreamFailed, type GatewayError } from '../../core/errors.ts'
import type { Answer, Clock } from '../../core/ports/platform.ts'
import { type GatheredBytes, gatheredBytes } from '../../core/gathered-bytes.ts'
import { flowOf, takeAll } from '../../core/ports/flow.ts'
import type { Soon } from '../../core/ports/soon.ts'
import { membersIn, parsed } from '../../core/dialects/json.ts'
import { JsonScan, noBounds } from '../../core/dialects/json-scan.ts'
import { type JsonObject, isJsonObject } from '../../core/dialects/json-object.ts'
import { readJson } from '../../core/dialects/read-json.ts'
import { keepTexts, memberTexts } from '../../core/dialects/json-text.ts'
import { keepDigits } from './long-numbers.ts'
import { refusalIn, type Refusal, type RefusalCode } from './refusal.ts'

/** Bytes of a stream that are read and written before other streams have their turn of the loop. */
export const turnBytes = 32 * 1024
/** A part of a stream takes as long as so many bytes more. */
export const partBytes = 64

/** Bytes of an answer that is read whole. */
export const mostAnswerBytes = 64 * 1024 * 1024
/** Bytes of an answer that one turn of the loop reads. */
export const atOnceBytes = 1024 * 1024
/** Bytes of a refusal that are kept as its cause, and ms that it is waited for. */
const refusal = 16 * 1024
const finishMs = 1_000

export { BaseUrl } from './base-url.ts'

/** What a status other than 2xx means; the body of the answer is the message of `cause`. */
export const faultOf = (answered: number, retryAfter: number | null, cause: unknown): GatewayError => {
  const text = cause instanceof Error ? cause.message : ''
  const status = commonStatus(answered, text)
  const refusal = refusalIn(status, text)
  if (isCallers(status, refusal.code)) return refusedFor(refusal, status === 403 ? null : refusal.sentence, cause)
  // Whether the account is good, and whether address and model are there, is our configuration's matter, never the caller's.
  const ours = (status >= 401 && status <= 404) || status === 405 || status === 410
  const again = [400, 408, 413, 422, 425, 429].includes(status) || status >= 500 || ours
  return new UpstreamFailed(undefined, { again, answered: status, retryAfter, cause, code: ownMatter(refusal.code) })
}

/** The status of most vendors for the same: xAI refuses a key by 400, Groq a minute's tokens by 413, a full tier by 498. */
const commonStatus = (status: number, text: string): number => {
  if (status === 400 && /"error"\s*:\s*"incorrect api key/i.test(text)) return 401
  if (status === 413 && /"code"\s*:\s*"rate_limit_exceeded"/.test(text)) return 429
  return status === 498 ? 503 : status
}

/** Whether the request itself is what the backend does not take. The backend's name of the model is the operator's. */
const isCallers = (status: number, code: RefusalCode | null): boolean =>
  status === 403
    ? code === 'content_filter'
    : (status === 400 || status === 413 || status === 422) && ownMatter(code) === null

const refusedFor = ({ code, param }: Refusal, told: string | null, cause: unknown): BadRequest => {
  const validator = param === null ? null : { [param]: 'The backend does not take it' }
  return new BadRequest('The backend refused the request', { cause, code, told, validator })
}

/** What of a backend's own troubles a caller may know. */
const ownMatter = (code: RefusalCode | null): RefusalCode | null =>
  code === 'insufficient_quota' || code === 'model_not_found' ? code : null

/** An error that the backend tells inside an answer that began well. */
export const toldFault = (error: unknown): GatewayError => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
  const answered = Number.isInteger(code) ? (code as number) : null
  const cause = new Error('An error inside the answer', { cause: error })
  const refusal = refusalIn(answered ?? 400, JSON.stringify({ error }))
  const named = refusal.code !== null && ownMatter(refusal.code) === null
  if (named && isCallers(answered ?? 400, refusal.code)) {
    return refusedFor(refusal, answered === 403 ? null : refusal.sentence, cause)
  }
  return new UpstreamFailed(undefined, { again: true, answered, cause, code: ownMatter(refusal.code) })
}

/** An answer that is not what was asked for: HTML, half a JSON text, another shape. */
export const garbled = (what: string, answered: number | null = null, cause?: unknown): UpstreamFailed =>
  new UpstreamFailed(undefined, { again: true, answered, cause: new Error(what, { cause }) })

/** Gives back an answer with a 2xx; the promise of any other rejects with what the status means. */
export const accepted = (answer: Answer, clock: Clock): Soon<Answer> =>
  answer.status >= 200 && answer.status < 300 ? answer : unaccepted(answer, clock)

const unaccepted = async (answer: Answer, clock: Clock): Promise<never> => {
  throw faultOf(answer.status, retryAfterOf(answer, clock), new Error(await beginning(answer, clock)))
}

/** Ms, of whichever header tells. */
export const retryAfterOf = (answer: Pick<Answer, 'header'>, clock: Clock): number | null => {
  const ms = Number.parseFloat(answer.header('retry-after-ms') ?? '')
  if (ms >= 0) return ms
  const after = answer.header('retry-after')
  if (after === null) return null
  const seconds = Number(after)
  const wait = Number.isNaN(seconds) ? Date.parse(after) - clock.now() : seconds * 1000
  return Number.isFinite(wait) ? Math.max(0, wait) : null
}

const beginning = async (answer: Answer, clock: Clock): Promise<string> => {
  const late = clock.alarm(finishMs, () => answer.discard())
  const gathered = gatheredBytes()
  try {
    for await (const part of answer.body) {
      gathered.add(part)
      if (gathered.length >= refusal) break
    }
  } catch (cause) {
    // The status alone says what is to be done.
    if (!(cause instanceof UpstreamFailed)) throw cause
  } finally {
    late.off()
  }
  return gathered.whole().toString('utf8', 0, refusal)
}

/** The bytes of one answer, as they come. Most answers come in one part, which needs no copy. */
export class AnswerParts {
  size = 0
  /** The header of its length: room of that length needs no copy at the end. */
  promised: unknown
  #first: Uint8Array | null = null
  #gathered: GatheredBytes | null = null

  /** Gives the fault of an answer that is too long. */
  add(part: Uint8Array, status: number): UpstreamFailed | null {
    this.size += part.length
    if (this.size > mostAnswerBytes) return garbled('The answer is over 64 MiB', status)
    if (this.#first === null) this.#first = part
    else {
      if (this.#gathered === null) (this.#gathered = gatheredBytes(lengthOf(this.promised))).add(this.#first)
      this.#gathered.add(part)
    }
    return null
  }

  /** All bytes; they are held no longer. */
  take(): Buffer {
    const whole = this.#gathered?.whole() ?? (this.#first === null ? Buffer.alloc(0) : bufferOf(this.#first))
    this.#first = this.#gathered = null
    return whole
  }
}

/** Null for no length, and for one beyond the bound. */
const lengthOf = (promised: unknown): number | null => {
  const length = Number(promised)
  return length > 0 && length <= mostAnswerBytes ? Math.floor(length) : null
}

/** The whole body of an answer. Throws UpstreamFailed beyond 64 MiB; another backend may be tried then. */
export const readBytes = async (answer: Answer): Promise<Buffer> => {
  const parts = new AnswerParts()
  parts.promised = answer.header('content-length')
  await takeAll(flowOf(answer.body), (part) => {
    const fault = parts.add(part, answer.status)
    if (fault !== null) throw fault
  })
  return parts.take()
}

/** The whole body as UTF-8, under the same bound. Bytes that are no UTF-8 become U+FFFD. */
export const readText = async (answer: Answer): Promise<string> => unmarked(await readBytes(answer)).toString('utf8')

/** A JSON object; a long one is read in turns of the loop. */
export const readObject = async (answer: Answer): Promise<Record<string, unknown>> =>
  objectOf(await readBytes(answer), answer.status)

/** The same, of a backend that may tell an error with a status of 2xx. */
export const readAnswer = async (answer: Answer): Promise<Record<string, unknown>> => {
  const body = await readObject(answer)
  if (body['error'] != null) throw toldFault(body['error'])
  return body
}

/** The same of bytes that have come; `text` is what they say, where they are decoded already. */
export const objectOf = (
  given: Uint8Array,
  status: number,
  text: string | null = null,
): Soon<Record<string, unknown>> => {
  const bytes = unmarked(given)
  return bytes.length > atOnceBytes ? longObject(bytes, status) : objectIn(text ?? bytes.toString('utf8'), status)
}

/** The same of an answer that may call tools; a long one has no digits that JavaScript does not hold. */
export const exactOf = (given: Uint8Array, status: number): Soon<Record<string, unknown>> => {
  const text = given.length > atOnceBytes ? null : unmarked(given).toString('utf8')
  return text === null ? objectOf(given, status) : objectIn(text, status, parseExact)
}

/** The same bytes with the methods of a Buffer. */
export const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The bytes of a text, without the byte order mark that some servers begin it with. */
export const unmarked = (bytes: Uint8Array): Buffer =>
  bufferOf(bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes)

const longObject = async (bytes: Buffer, status: number): Promise<Record<string, unknown>> => {
  const utf8 = isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'))
  try {
    const value = await readJson(utf8, 'plain', noBounds)
    if (isJsonObject(value)) return value
  } catch (fault) {
    // The fault may quote the answer.
    if (!(fault instanceof BadRequest)) throw fault
  }
  throw garbled('The answer is not a JSON object', status)
}

/** Throws UpstreamFailed for a text that is no JSON object. */
export const objectIn = (text: string, status: number, parse = parseObject): Record<string, unknown> => {
  const value = parse(text)
  if (value === null) throw garbled('The answer is not a JSON object', status)
  return value
}

/** A JSON object whose members are printed as they came; a long one is read in turns of the loop, and printed anew. */
export const readKept = async (answer: Answer): Promise<Record<string, unknown>> =>
  keptOf(await readBytes(answer), answer.status)

/** The same of bytes that have come. */
export const keptOf = (given: Uint8Array, status: number): Soon<Record<string, unknown>> => {
  const bytes = unmarked(given)
  return bytes.length > atOnceBytes ? longObject(bytes, status) : keptObject(bytes, status)
}

const keptObject = (bytes: Buffer, status: number): Record<string, unknown> => {
  const value = objectIn(bytes.toString('utf8'), status)
  const scan = new JsonScan(bytes, noBounds)
  try {
    scan.read(bytes.length)
  } catch (cause) {
    throw garbled('The answer is nested too deeply', status, cause)
  }
  keepTexts(value, memberTexts(scan, value, membersIn(value)))
  return value
}

/** The objects of a list, which is the same list where it has nothing else. Null there spoils no answer. */
export const itemsIn = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? (value.every(isJsonObject) ? value : value.filter(isJsonObject)) : []

/** What a JSON object begins with: a parser that fails takes as long as a hundred short objects. */
const opens = /^\s*\{/

/** Null for what is no JSON object. */
export const parseObject = (text: string): Record<string, unknown> | null => {
  if (!opens.test(text)) return null
  try {
    return parsed(text) as Record<string, unknown>
  } catch {
    return null
  }
}

/** The same for a value that has arguments of tools: `exact` finds the digits of their long numbers. */
export const parseExact = (text: string): Record<string, unknown> | null => {
  const value = parseObject(text)
  if (value !== null) keepDigits(value, text)
  return value
}

/** Behind the end mark: the connection serves again when the answer ends soon, and is closed when it does not. */
export const finish = (reads: AsyncIterator<Uint8Array>, answer: Answer, clock: Clock): void => {
  const late = clock.alarm(finishMs, () => answer.discard())
  const off = () => late.off()
  const drain = (): Promise<void> => reads.next().then(({ done }) => (done ? off() : drain()), off)
  void drain()
}
