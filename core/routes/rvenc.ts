import * as v from 'valibot'
import type { Caller } from '../access/caller.ts'
import { mayUse } from '../access/caller.ts'
import { BadRequest, type GatewayError } from '../errors.ts'
import { bareError } from '../http/envelope.ts'
import { type Reply, events, json, refused } from '../http/reply.ts'
import { type Request, route } from '../http/route.ts'
import { listed } from '../inference/listing.ts'
import { Meter, type Reservation } from '../inference/meter.ts'
import { Enclave, type Grant, type SealedReply, type Trailer } from '../ports/enclave.ts'
import { Clock } from '../ports/host.ts'
import type { Usage } from '../ports/upstream.ts'
import { Streams } from '../http/streams.ts'
import { type Check, checks } from '../wire/body.ts'

const sealed = (check: Check, expected: string) =>
  v.pipe(v.string(), v.check((text) => check(text) === null, expected))

const hex = {
  cipherText: sealed(checks.cipherText, '1120, 1088 or 32 bytes in lower-case hex'),
  nonce: sealed(checks.nonce, '24 bytes in lower-case hex'),
  params: sealed(checks.params, 'sealed JSON in lower-case hex'),
  enclaveKid: v.optional(sealed(checks.enclaveKid, '8 bytes in lower-case hex')),
}

const chatBody = v.object({
  encryptedInference: hex.params,
  cipherText: hex.cipherText,
  nonce: hex.nonce,
  enclaveKid: hex.enclaveKid,
})

const grantOf = (id: string, caller: Caller): Grant => ({
  request: id,
  organization: caller.organization,
  user: caller.user,
  key: caller.key,
  models: caller.models,
})

const chat = route({
  method: 'POST',
  path: '/rvenc/chat/completions',
  summary: 'Answers a conversation that only the enclave can read, whole or as a stream of sealed frames.',
  access: { scope: 'chats.completion' },
  body: { read: 'json', schema: chatBody, bytes: ({ bodies }) => bodies.chat * 2 + 8192 },
  errors: bareError,
  needs: { enclave: Enclave, meter: Meter, streams: Streams, clock: Clock },
  async handle({ id, input, caller, signal }, { enclave, meter, streams, clock }) {
    const guess = { input: Math.ceil(input.encryptedInference.length / 8), output: 1024 }
    const reservation = await meter.reserve(caller, null, guess, 'confidential')
    const stop = new AbortController()
    const ended = AbortSignal.any([signal, stop.signal])
    try {
      const reply = await enclave.handle('rvenc/chat/completions', input, grantOf(id, caller), ended)
      if (reply.kind === 'body') {
        void settle(enclave, reservation, reply.trailer)
        return reply.failure === null ? json(reply.body) : refused(reply.status, reply.failure, reply.body)
      }
      const release = await streams.take(caller).catch((error: unknown) => {
        stop.abort(error)
        throw error
      })
      const frames = relayed(reply, () => {
        void release()
        void reply.trailer.then((trailer) => settle(enclave, reservation, trailer))
      })
      return events(frames, broken, () => ({ event: 'heartbeat', data: JSON.stringify({ message: 'waiting', timestamp: clock.now() }) }))
    } catch (error) {
      void reservation.settle(null, null)
      throw error
    }
  },
})

const settle = async (enclave: Enclave, reservation: Reservation<Usage>, { model, backend, usage }: Trailer): Promise<void> => {
  const served = model === null ? [] : await enclave.models(AbortSignal.timeout(10_000)).catch(() => [])
  await reservation.settle(usage, backend, served.find(({ name }) => name === model) ?? null)
}

async function* relayed({ frames }: Extract<SealedReply, { kind: 'frames' }>, ended: () => void) {
  try {
    let last = ''
    for await (const frame of frames) {
      yield { event: 'data', data: frame }
      last = frame
    }
    // The 24th byte is the flag: an error frame is never followed by the end mark.
    if (last.slice(46, 48) === '01') yield { event: 'done', data: '[DONE]' }
  } finally {
    ended()
  }
}

const broken = (error: GatewayError) => ({
  event: 'error',
  data: JSON.stringify({ status: error.status, error: error.message }),
})

const keyset = v.object({
  keyset: v.string(),
  keys: v.array(
    v.object({
      enclaveKid: v.string(),
      kem: v.string(),
      public_key: v.string(),
      not_before: v.number(),
      not_after: v.number(),
    }),
  ),
  evidence: v.looseObject({ type: v.string() }),
})

const which = { enclave: v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/))) }

const keys = route({
  method: 'GET',
  path: '/rvenc/keys',
  summary: 'The keys to seal to, with evidence of where they live.',
  access: 'any-key',
  query: v.object(which),
  answer: keyset,
  needs: { enclave: Enclave },
  handle: async ({ query }, { enclave }) => json(await enclave.keys(query.enclave)),
})

const attestation = route({
  method: 'GET',
  path: '/rvenc/attestation',
  summary: 'The same keys with fresh evidence over a challenge.',
  access: 'any-key',
  query: v.object({ ...which, challenge: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)) }),
  answer: keyset,
  needs: { enclave: Enclave },
  handle: async ({ query }, { enclave }) =>
    json(await enclave.attest(new Uint8Array(Buffer.from(query.challenge, 'hex')), query.enclave)),
})

const models = route({
  method: 'GET',
  path: '/rvenc/models',
  summary: 'Lists the models that the key may use sealed.',
  access: 'any-key',
  needs: { enclave: Enclave },
  async handle({ caller, signal }, { enclave }) {
    const entries = (await enclave.models(signal)).filter(({ name }) => mayUse(caller, name))
    return json({
      object: 'list',
      data: entries.map((entry) => listed(entry, 'confidential')),
      keyset: await enclave.keys(),
    })
  },
})

export const rvenc = [chat, keys, attestation, models] as const
