import * as v from 'valibot'
import { mayUse } from '../../../core/access/caller.ts'
import type { Supplied } from '../../../core/container.ts'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import type { ServerEvent } from '../../../core/dialects/event.ts'
import { type GatewayError, TooLarge, TooMany, Unavailable, UpstreamFailed } from '../../../core/errors.ts'
import { bareError, type Reply, data, events, json, refused } from '../../../core/http/reply.ts'
import { type SealedBody, type SealedSchema, route } from '../../../core/http/route.ts'
import { isListed, catalogEntryOf } from '../../shared/models/listed-model.ts'
import { Meter, type Reservation } from '../../../core/inference/metering/meter.ts'
import { secondsOf } from '../../../core/inference/metering/tokens.ts'
import { Enclave, type SealedReply, type Trailer } from '../../../core/ports/enclave.ts'
import type { Flow } from '../../../core/ports/flow.ts'
import { stopWith } from '../../shared/stop-with.ts'
import { through } from '../../shared/through.ts'
import { type Alarm, Clock } from '../../../core/ports/platform.ts'
import { type Soon, soon } from '../../../core/ports/soon.ts'
import { Streams } from '../shared/sealed-streams.ts'
import { Settings } from '../../../core/settings.ts'
import { billedModel, sealedModels } from '../shared/priced-model.ts'
import { callEnclave, enclaveNeeds, inDigits, replyWithSealed } from '../shared/call-enclave.ts'
import { grantOf } from '../shared/grant.ts'
import { sealedUser } from '../../shared/sealed-user.ts'
import { lengths, refusalHeader } from '../../sealed/wire/body.ts'
import { hex } from '../../shared/sealed-hex.ts'
import { decisionSettings } from '../../shared/decisions/settings.ts'

const chatBody = v.object({
  encryptedInference: hex.params,
  cipherText: hex.cipherText,
  nonce: hex.nonce,
  enclaveKid: hex.enclaveKid,
})

/** Bytes of a sealed body: hex doubles the length of the clear one, and the other fields are short. */
const chatBytes = ({ bodies }: Settings) => bodies.chat * 2 + 8192

/** Digits of the sealed JSON; nearly all of a long body. */
const hexIn = (body: SealedBody): number =>
  body instanceof Uint8Array ? body.length : String(body['encryptedInference']).length

/** All that a 413 and a 429 of these routes say. */
const bareFault = v.pipe(v.object({ status: v.number(), error: v.string() }), v.title('BareError'))

const settle = async <T>(
  enclave: Enclave,
  reservation: Reservation<T>,
  trailer: Trailer,
  truth: T | null,
): Promise<void> => reservation.settle(truth, trailer.backend, await billedModel(enclave, trailer))

type SealedAnswer = Extract<SealedReply, { kind: 'body' }>

/** The enclave's one body, whose trailer tells what the reservation comes to. A call that fails comes to nothing. */
const settledBody = async <T>(
  supplied: Supplied<typeof enclaveNeeds>,
  reservation: Reservation<T>,
  truth: (trailer: Trailer) => T | null,
  call: Readonly<Parameters<Enclave['handle']>>,
): Promise<SealedAnswer> => {
  try {
    const reply = await callEnclave(supplied, ...call)
    if (reply.kind !== 'body') throw new Unavailable()
    void settle(supplied.enclave, reservation, reply.trailer, truth(reply.trailer))
    return reply
  } catch (error) {
    void reservation.settle(null, null)
    throw error
  }
}

/** A sealed refusal as a header holds it. Front doors have room for so many digits. */
const headerForm = /^[0-9a-f]{80,2048}$/

/** The body of a 429 holds its status and sentence alone, so the sealed refusal stands in a header. */
const tooMany = (failure: string, body: SealedAnswer['body'], retryAfter: number | null = 2_000): TooMany => {
  const digits = `${body['nonce']}${body['encryptedResponse']}`
  return new TooMany(failure, { retryAfter, headers: headerForm.test(digits) ? { [refusalHeader]: digits } : {} })
}

/** The enclave's refusal with the time after which another try makes sense. */
const refusedReply = (failure: string, { status, body, retryAfter }: SealedAnswer): Reply => {
  if (status === 429) throw tooMany(failure, body, retryAfter)
  return refused(status, failure, body, retryAfter)
}

/** The enclave's whole answer, or its refusal. */
const sealedAnswer = (reply: SealedAnswer, headers: Readonly<Record<string, string>>): Reply =>
  reply.failure === null ? replyWithSealed(reply.body, headers) : refusedReply(reply.failure, reply)

/** What all calls with a sealed text share. */
const sealedText = {
  access: { scope: 'chats.completion' },
  body: { read: 'sealed', schema: chatBody as SealedSchema, bytes: chatBytes, tooLarge: true },
  errors: bareError,
  faults: { 413: bareFault, 429: bareFault },
} as const

const chat = route({
  ...sealedText,
  method: 'POST',
  path: '/rvenc/chat/completions',
  summary: 'Answers a conversation that only the enclave can read, whole or as a stream of sealed frames.',
  needs: { ...enclaveNeeds, meter: Meter, streams: Streams, clock: Clock, settings: Settings },
  async handle({ id, record, input, caller, headers, signal }, supplied) {
    const { enclave, meter, streams, clock, settings } = supplied
    const { timeouts } = settings
    const guess = { input: Math.ceil(hexIn(input) / 8), output: 1024, user: sealedUser(headers) }
    const reservation = await meter.reserve(caller, sealedModels(enclave), guess, record)
    const stopped = stopWith(signal)
    try {
      const reply = await callEnclave(
        supplied,
        'rvenc/chat/completions',
        input,
        { ...grantOf(id, caller, reservation.full), ...hinted(headers['x-enclave-kid']) },
        stopped.signal,
      )
      if (reply.kind === 'body') {
        stopped.off()
        void settle(enclave, reservation, reply.trailer, reply.trailer.usage)
        return sealedAnswer(reply, reservation.headers)
      }
      const release = await streams.take(caller, settings.limits.sealedStreams)
      const idle = clock.alarm(timeouts.sealedIdle, () => stopped.stop(new UpstreamFailed('No inference data in time')))
      const ended = async () => {
        idle.off()
        stopped.off()
        await release()
        void reply.trailer.then((trailer) => settle(enclave, reservation, trailer, trailer.usage))
      }
      const beat = () => ({ event: 'heartbeat', data: JSON.stringify({ message: 'waiting', timestamp: clock.now() }) })
      return events(relayed(reply.frames, idle, ended), broken, beat, reservation.headers)
    } catch (error) {
      stopped.stop(error)
      stopped.off()
      void reservation.settle(null, null)
      throw error
    }
  },
})

/** A call with one sealed answer; `output` guesses its tokens. */
const whole = (
  name: 'decision' | 'embeddings',
  summary: string,
  output: number,
  places?: { readonly name: string; readonly most: (settings: Settings) => number },
) =>
  route({
    ...sealedText,
    method: 'POST',
    path: `/rvenc/${name}`,
    summary,
    ...(places && { places }),
    needs: { ...enclaveNeeds, meter: Meter },
    async handle({ id, record, input, caller, headers, signal }, supplied) {
      const guess = { input: Math.ceil(hexIn(input) / 8), output, user: sealedUser(headers) }
      const reservation = await supplied.meter.reserve(caller, sealedModels(supplied.enclave), guess, record)
      const grant = { ...grantOf(id, caller, reservation.full), ...hinted(headers['x-enclave-kid']) }
      const call = [`rvenc/${name}`, input, grant, signal] as const
      return sealedAnswer(await settledBody(supplied, reservation, ({ usage }) => usage, call), reservation.headers)
    },
  })

const decision = whole('decision', 'Answers typed questions that only the enclave can read.', 16, {
  name: 'decision',
  most: (settings) => decisionSettings.of(settings).places,
})

const embeddings = whole('embeddings', 'Makes vectors of texts that only the enclave can read.', 0)

/** The caller may open its next stream as soon as it has seen the last frame, so the place is given back before that one goes out. */
const relayed = (frames: AsyncIterable<string>, idle: Alarm, ended: () => Promise<void>): Flow<ServerEvent> => {
  let isOver = false
  const over = (): Soon<void> => {
    if (isOver) return
    isOver = true
    return ended()
  }
  return through<string, ServerEvent>(frames, {
    take(frame, into) {
      idle.again()
      const flag = frame.slice(46, 48)
      if (flag === '00') return void into.push({ event: 'data', data: frame })
      return soon(over(), () => {
        into.push({ event: flag === '02' ? 'error' : 'data', data: frame })
        // An error frame is never followed by the end mark.
        if (flag === '01') into.push({ event: 'done', data: '[DONE]' })
      })
    },
    end: (_, fault) =>
      soon(over(), () => {
        if (fault !== null) throw fault
      }),
    over,
  })
}

const broken = (error: GatewayError) => ({
  event: 'error',
  data: JSON.stringify({ status: error.status, error: error.message }),
})

const audioBody = v.object({
  model: v.optional(v.string()),
  encryptedInference: v.string(),
  cipherText: v.string(),
  nonce: v.string(),
  fileNameNonce: v.string(),
  encryptedFileName: v.string(),
  fileNonce: v.string(),
  encryptedFile: v.string(),
  enclaveKid: v.nullish(v.string()),
})

/** Hex and the fields around it. */
const mostAudio = 2 * (lengths.audio + 16) + 512 * 1024

/** The body is never read here: it goes in as it comes, and the enclave looks at its fields. */
const audio = (
  verb: 'transcriptions' | 'translations',
  scope: 'audio.transcription' | 'audio.translation',
  summary: string,
) =>
  route({
    method: 'POST',
    path: `/rvenc/audio/${verb}`,
    summary,
    access: { scope },
    body: { read: 'stream', schema: audioBody },
    errors: bareError,
    faults: { 413: bareFault, 429: bareFault },
    needs: { ...enclaveNeeds, meter: Meter },
    async handle({ id, record, caller, headers, bytes, signal }, supplied) {
      // What does not tell its length is taken to be as long as may be, until it was heard.
      const length = Number(headers['content-length'] ?? mostAudio)
      if (length > mostAudio) throw new TooLarge('The file is too large')
      const seconds = Math.ceil(secondsOf(length / 2))
      const reservation = await supplied.meter.spendAudio(caller, sealedModels(supplied.enclave), seconds, record)
      const grant = {
        ...grantOf(id, caller, reservation.full),
        ...hinted(headers['x-enclave-kid']),
        length: Math.ceil(length / 2),
      }
      const call = [`rvenc/audio/${verb}`, bounded(bytes, mostAudio), grant, signal] as const
      const reply = await settledBody(supplied, reservation, ({ audioSeconds }) => audioSeconds, call)
      return reply.failure === null ? data(inDigits(reply.body)) : refusedReply(reply.failure, reply)
    },
  })

const hinted = (kid: string | readonly string[] | undefined) =>
  typeof kid === 'string' ? { enclaveKid: kid.slice(0, 16).toLowerCase() } : {}

async function* bounded(bytes: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const part of bytes) {
    size += part.length
    if (size > most) throw new TooLarge('The file is too large')
    yield part
  }
}

const transcriptions = audio(
  'transcriptions',
  'audio.transcription',
  'Writes down what is said in a sealed audio file.',
)
const translations = audio(
  'translations',
  'audio.translation',
  'Writes down in English what is said in a sealed audio file.',
)

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
  receipt_keys: v.optional(v.array(v.object({ ed25519: v.string(), ml_dsa_65: v.string() }))),
  evidence: v.looseObject({ type: v.string() }),
})

const which = { enclave: v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/, 'the name of an enclave'))) }

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
  summary: 'The keys to seal to, with fresh evidence over a challenge of the caller.',
  access: 'any-key',
  query: v.object({ ...which, challenge: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/i, '32 bytes in hex')) }),
  answer: keyset,
  needs: { enclave: Enclave },
  handle: async ({ query }, { enclave }) =>
    json(await enclave.attest(new Uint8Array(Buffer.from(query.challenge, 'hex')), query.enclave)),
})

const signedFile = v.nullable(
  v.object({ text: v.string(), signatures: v.array(v.object({ key: v.string(), signature: v.string() })) }),
)

const releases = route({
  method: 'GET',
  path: '/rvenc/releases',
  summary: 'The signed lists of what may run inside, as their makers published them.',
  access: 'any-key',
  answer: v.object({ releases: signedFile, notices: signedFile }),
  needs: { enclave: Enclave },
  handle: async (_, { enclave }) => json((await enclave.signedLists?.()) ?? { releases: null, notices: null }),
})

const models = route({
  method: 'GET',
  path: '/rvenc/models',
  summary: 'Lists the models that the key may use sealed.',
  access: { scope: 'models.read' },
  needs: { enclave: Enclave },
  async handle({ caller, signal }, { enclave }) {
    const all = await enclave.models(signal)
    // A turn of the loop makes one list: thousands of models take milliseconds.
    await freeTurn()
    const entries = all.filter((entry) => isListed(entry, 'confidential') && mayUse(caller, entry.name))
    return json({
      object: 'list',
      data: entries.map((entry) => catalogEntryOf(entry, 'confidential')),
      keyset: await enclave.keys(),
    })
  },
})

/**
 * Routes whose content only the enclave can open. Their faults inside are answers, not errors of the gateway.
 */
export const sealedRoutes = [
  chat,
  decision,
  embeddings,
  transcriptions,
  translations,
  keys,
  attestation,
  releases,
  models,
] as const
