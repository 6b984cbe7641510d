import { Readable } from 'node:stream'
import { BadRequest, Expired, TooLarge, UpstreamFailed, NotFound } from '../../../core/errors.ts'
import { type Reply, bytes, text } from '../../../core/http/reply.ts'
import type { Request } from '../../../core/http/route.ts'
import type { Caller } from '../../../core/access/caller.ts'
import type { Supplied } from '../../../core/container.ts'
import type { Streams } from '../shared/sealed-streams.ts'
import type { Meter } from '../../../core/inference/metering/meter.ts'
import type { Settings } from '../../../core/settings.ts'
import type { Enclave, SealedReply } from '../../../core/ports/enclave.ts'
import type { Clock } from '../../../core/ports/platform.ts'
import { chunkHead, ehbpRoute, printChunk } from '../../sealed/ehbp/chunks.ts'
import { keysType, printKeyConfigs, suites } from '../../sealed/ehbp/key-config.ts'
import { concat, number, fromHex } from '../../sealed/wire/bytes.ts'
import { kems } from '../../sealed/wire/kem-names.ts'
import { callEnclave, type enclaveNeeds } from '../shared/call-enclave.ts'
import { grantOf } from '../shared/grant.ts'
import { sealedUser } from '../../shared/sealed-user.ts'
import { boundedBytes } from '../../shared/bounded-body.ts'
import { stopWith } from '../../shared/stop-with.ts'
import { billedModel, sealedModels } from '../shared/priced-model.ts'

const keyHeader = 'ehbp-encapsulated-key'
const nonceHeader = 'ehbp-response-nonce'
/** What a page of another origin reads of an answer. */
const shown = { 'access-control-expose-headers': `${nonceHeader}, x-request-id, retry-after` }

/** The newest key of each suite that a client may seal to now. */
export const publishedKeys = async (enclave: Enclave, clock: Clock): Promise<Reply> => {
  const { keys } = await enclave.keys()
  // The first keys are made when they are asked for, so they begin now.
  const now = clock.now()
  const newest = suites.flatMap((name) => {
    const [key] = keys
      .filter(({ kem, not_before, not_after }) => kem === name && not_before <= now && now < not_after)
      .sort((one, other) => other.not_before - one.not_before)
    const kem = kems.find((known) => known.name === name)
    const bytes = key && kem && fromHex(key.public_key, kem.publicKey)
    return bytes && kem ? [{ kem, bytes }] : []
  })
  if (newest.length === 0) throw new NotFound('The enclave has no key for this protocol')
  return text(printKeyConfigs(newest), keysType)
}

/** Throws unless the header is hex of a known length. */
const encapsulatedKey = (given: string | readonly string[] | undefined): Uint8Array => {
  const longest = Math.max(...kems.map(({ cipherText }) => cipherText))
  const key = typeof given === 'string' ? fromHex(given.toLowerCase(), longest) : null
  if (key === null || key.length === 0)
    throw new BadRequest('Validation failed', { validator: { [keyHeader]: 'Expected the encapsulated key as hex' } })
  return key
}

/** A client asks for the keys anew and seals again. */
const staleKey = (): Reply =>
  text(
    JSON.stringify({ type: 'urn:ietf:params:ehbp:error:key-config', title: 'Unknown or expired enclave key' }),
    'application/problem+json',
    422,
  )

const sealedBody = (hex: string): Uint8Array => printChunk(Buffer.from(hex, 'hex'))

/** The status goes out in the clear, and the exact reason of a refusal sealed. */
const wholeReply = (
  { status, body, retryAfter }: Extract<SealedReply, { kind: 'body' }>,
  headers: Readonly<Record<string, string>>,
): Reply => {
  const after = retryAfter == null ? {} : { 'retry-after': String(Math.ceil(retryAfter / 1000)) }
  const all = { ...headers, ...shown, ...after, [nonceHeader]: String(body['nonce']) }
  const { chunk } = body
  if (!(chunk instanceof Uint8Array)) return text(sealedBody(String(chunk)), 'application/json', status, all)
  const parts = [chunkHead(chunk), chunk]
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  return bytes(Readable.from(parts), 'application/json', size, status, all)
}

interface ChatParts extends Supplied<typeof enclaveNeeds> {
  readonly meter: Meter
  readonly streams: Streams
  readonly clock: Clock
  readonly settings: Settings
}

/** Reserves the cost of a chat, hands it to the enclave as it came, and relays the sealed answer. */
export const answeredChat = async (
  {
    id,
    record,
    bytes: body,
    caller,
    headers,
    signal,
  }: Pick<Request<unknown, unknown, Caller>, 'id' | 'record' | 'bytes' | 'caller' | 'headers' | 'signal'>,
  supplied: ChatParts,
): Promise<Reply> => {
  const { enclave, meter, streams, clock, settings } = supplied
  const key = encapsulatedKey(headers[keyHeader])
  const chunks = await boundedBytes(body, settings.bodies.chat, () => new TooLarge('The request is too large'))
  const guess = { input: Math.ceil(chunks.length / 4), output: 1024, user: sealedUser(headers) }
  const reservation = await meter.reserve(caller, sealedModels(enclave), guess, record)
  const stopped = stopWith(signal)
  const settled = async ({ trailer }: { trailer: Awaited<SealedReply['trailer']> }) =>
    reservation.settle(trailer.usage, trailer.backend, await billedModel(enclave, trailer))
  try {
    const sealed = concat(number(key.length, 2), key, chunks)
    const reply = await callEnclave(supplied, ehbpRoute, sealed, grantOf(id, caller, reservation.full), stopped.signal)
    if (reply.kind === 'body') {
      stopped.off()
      void settled(reply)
      return wholeReply(reply, reservation.headers)
    }
    const release = await streams.take(caller, settings.limits.sealedStreams)
    const idle = clock.alarm(settings.timeouts.sealedIdle, () =>
      stopped.stop(new UpstreamFailed('No inference data in time')),
    )
    const frames = reply.frames[Symbol.asyncIterator]()
    const ended = async () => {
      idle.off()
      stopped.off()
      await release()
      void reply.trailer.then((trailer) => settled({ trailer }))
    }
    const nonce = await frames.next().catch(async (error: unknown) => {
      await ended()
      throw error
    })
    const all = { ...reservation.headers, ...shown, [nonceHeader]: String(nonce.value) }
    return bytes(
      relayed(frames, () => idle.again(), ended),
      'text/event-stream',
      null,
      200,
      all,
    )
  } catch (error) {
    stopped.stop(error)
    stopped.off()
    void reservation.settle(null, null)
    if (error instanceof Expired) return staleKey()
    throw error
  }
}

/** The place of the stream is given back before its last byte goes out. */
async function* relayed(frames: AsyncIterator<string>, heard: () => void, ended: () => Promise<void>) {
  try {
    for (;;) {
      const { done, value } = await frames.next()
      if (done) return
      heard()
      yield sealedBody(value)
    }
  } finally {
    await frames.return?.()
    await ended()
  }
}
