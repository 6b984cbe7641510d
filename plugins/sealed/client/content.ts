import { hashing } from '#aead'
import type { Stored } from '../wire/binding.ts'
import { same } from '../wire/bytes.ts'
import { openContent, openWhole } from '../wire/file.ts'
import { type ClearRequests, pathFor } from './http-request.ts'
import { SealgateError } from './error.ts'
import { joinedBytes, read } from './byte-source.ts'

/** The sealed bytes, as the gateway sends them. */
export const storedContent = async (
  ask: ClearRequests,
  id: string,
  signal: AbortSignal | undefined,
): Promise<AsyncIterable<Uint8Array>> => {
  const answer = await ask.raw('GET', pathFor`files/encrypted/${id}/content`, signal ? { signal } : {})
  if (answer.body === null) throw new SealgateError('truncated')
  return read(answer.body)
}

/** Throws `damaged` when a byte was changed, removed or added, and the signal's reason after an abort. */
export const openedContent = (
  version: string,
  dek: Uint8Array,
  sealed: AsyncIterable<Uint8Array>,
  signal: AbortSignal | null,
): AsyncIterable<Uint8Array> => (version === '2' ? sound(openContent(dek, sealed), signal) : opening(dek, sealed))

/** Yields the stored bytes and throws unless their size and hash match the binding. */
export async function* exactContent(
  parts: AsyncIterable<Uint8Array>,
  { size, hash }: Stored,
): AsyncGenerator<Uint8Array> {
  const seen = hashing()
  let sum = 0
  for await (const part of parts) {
    sum += part.length
    if (sum > size) throw new SealgateError('damaged')
    seen.update(part)
    yield part
  }
  if (!same(seen.digest(), hash)) throw new SealgateError('damaged')
}

/** Version 1 has one seal over all bytes, so nothing is given before the last byte came. */
async function* opening(dek: Uint8Array, sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const plain = openWhole(dek, await joinedBytes(sealed))
  if (plain === null) throw new SealgateError('damaged')
  yield plain
}

/** Gives each chunk as soon as it opens; a later fault makes the stream throw. */
async function* sound(parts: AsyncIterable<Uint8Array>, signal: AbortSignal | null): AsyncGenerator<Uint8Array> {
  try {
    yield* parts
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    throw cause instanceof SealgateError ? cause : new SealgateError('damaged', { cause })
  }
}
