import { unlessAborted } from '../../../core/abort.ts'
import type { Container, Supplied } from '../../../core/container.ts'
import { NotFound, Unavailable } from '../../../core/errors.ts'
import { lazy } from '../../../core/plugin.ts'
import { type Pace, loopTime, usualTime } from '../../../core/dialects/loop-time.ts'
import { Clock } from '../../../core/ports/platform.ts'
import type { Enclave, Evidence, Grant, SealedReply, EnclaveFiles } from '../../../core/ports/enclave.ts'
import { gatheredBytes } from '../../../core/gathered-bytes.ts'
import { type ModelUse, type QueueLimits, runErrand } from '../../shared/errand.ts'
import { type Shares, fairShares } from '../../shared/fair-shares.ts'
import { summedUses } from '../usage-scope.ts'
import { Prover } from '../../../core/ports/attester.ts'
import { Reader } from '../../../core/ports/reader.ts'
import { Tool } from '../../../core/ports/tool.ts'
import type { LogSigner, SignerKeyset } from '../log-signer.ts'
import { checks, lengths } from '../wire/body.ts'
import { toHex } from '../wire/bytes.ts'
import { type Kem, kems } from '../wire/kem.ts'
import { enclaveKid, printKeyset, reportData } from '../wire/keyset.ts'
import { chatSealed, chatNeeds } from './chat.ts'
import { Epochs } from './epochs.ts'
import { type OpenedRequest, SealedRefusal, type OuterFields, type Sealed, requestOpener } from './open.ts'
import { headSigning } from './log-heads.ts'
import { speakersBy } from './tell-speakers.ts'
import { type LongBody, readSealedBody } from './read-sealed-body.ts'
import { type ReceiptRequest, withReceipt } from './receipts.ts'
import { sealedFailure } from './reply.ts'
import { ehbpRoute } from '../ehbp/chunks.ts'
import { indexRequest } from './index-request.ts'
import { type Indexer, retrieval } from './retrieval.ts'
import type { ReserveMemory } from './open-stored-file.ts'
import { outerOf, runTool } from './tool.ts'

/** Routes that are used less load their code with their first request. */
const deciding = lazy(() => import('./decision.ts'))
const embedding = lazy(() => import('./embeddings.ts'))
const transcribing = lazy(() => import('./audio.ts'))
const byEhbp = lazy(() => import('./ehbp.ts'))

/** What an operator chose for the enclave, checked. */
export interface EnclaveSettings {
  /** In ms: the time in which clients may seal to a key. */
  readonly epoch: number
  readonly kems: readonly Kem['name'][]
  /** Refuses sealed JSON that does not name its route. */
  readonly requireBinding: boolean
  /** The embedding model of search, and the bytes of opened indexes that stay in memory. */
  readonly retrieval: { readonly model?: string | undefined; readonly cache: number; readonly most: number }
  /** In bytes: the largest stored file that the enclave opens. */
  readonly file: number
  readonly queue: QueueLimits
  /** In ms: the longest time of a decision. */
  readonly decision: number
  /** In bytes: the sum of all files and long bodies open at the same time. */
  readonly openBytes: number
  readonly releaseDigest: Uint8Array
}

/** One route of the enclave. */
interface Chapter {
  /** The outer fields. A function reads them from the request when the request has a list. */
  readonly outer: OuterFields | ((sealed: Sealed) => { readonly outer: OuterFields; readonly fields: Sealed })
  /** Set when the chapter opens files or runs models for them. The cost is billed to the caller, or free. */
  readonly errand?: 'billed' | 'free'
  run(
    opened: OpenedRequest,
    grant: Grant,
    signal: AbortSignal,
    outer: Sealed,
    enclaveFiles: EnclaveFiles,
    wish: ReceiptRequest | null,
  ): Promise<SealedReply>
}

const inferenceParams = {
  cipherText: { field: 'cipherText', check: checks.cipherText },
  params: { field: 'encryptedInference', nonce: 'nonce' },
} as const

const inferenceOuter: OuterFields = {
  ...inferenceParams,
  parts: {},
  kid: 'enclaveKid',
  big: { field: 'encryptedInference', most: lengths.params + 16 },
}

const audioOuter: OuterFields = {
  ...inferenceParams,
  parts: {
    encryptedFileName: { nonce: 'fileNameNonce', check: checks.name },
    encryptedFile: { nonce: 'fileNonce', check: checks.audio },
  },
  kid: 'enclaveKid',
  big: { field: 'encryptedFile', most: lengths.audio + 16 },
}

/** The parts of one enclave. */
interface Inside {
  readonly settings: EnclaveSettings
  readonly clock: Clock
  readonly prover: Prover
  readonly epochs: Epochs
  readonly open: ReturnType<typeof requestOpener>
  readonly forChat: Supplied<typeof chatNeeds>
  readonly tools: readonly Tool[]
  readonly readers: readonly Reader[]
  /** Bytes of all files and long bodies. */
  readonly room: Shares
  /** The time of the main loop, for work of this caller. */
  readonly pace: (grant: Grant) => Pace
}

/** An organisation may fill half of the room, and a key a quarter, so that none locks out the others. */
const insideOf = (container: Container, settings: EnclaveSettings): Inside => {
  const { epoch, kems, releaseDigest, requireBinding, openBytes } = settings
  const supplied = container.supply({ clock: Clock, prover: Prover, tools: Tool, readers: Reader })
  const pace = loopTime(supplied.clock)
  const epochs = new Epochs(supplied.clock, { length: epoch, kems, releaseDigest })
  return {
    ...supplied,
    settings,
    epochs,
    open: requestOpener(epochs, requireBinding),
    forChat: container.supply(chatNeeds),
    room: fairShares({ all: openBytes, organization: openBytes / 2, key: openBytes / 4 }),
    pace: (grant) => pace(grant, usualTime),
  }
}

/** The inside of the sealed path: route → open → run → seal. */
export const enclave = (container: Container, settings: EnclaveSettings): Enclave & LogSigner => {
  const inside = insideOf(container, settings)
  const { epochs, clock, forChat, room } = inside
  const chapters = chaptersOf(inside)
  const signHead = headSigning(() => epochs.signer(), clock)
  const published = keysetPublisher(inside)
  return {
    keys: () => published(new Uint8Array(32)),
    attest: (challenge) => published(challenge),
    signHead: async (wanted) => signHead(wanted),
    models: async (signal) =>
      (await forChat.catalog.list(signal)).map(({ name, settings, candidates }) => ({
        name,
        settings: { ...settings, owned_by: settings.owned_by ?? candidates[0]?.provider },
      })),
    async handle(route, sealed, grant, signal, enclaveFiles = none) {
      if (route === ehbpRoute && isMeasured(sealed)) return chatIn(inside, sealed, grant, signal)
      const chapter = chapters[route]
      if (chapter === undefined) throw new NotFound('Not found')
      const handle = (outer: Sealed) => handled(inside, { route, chapter, outer, grant, enclaveFiles }, signal)
      if (!isLong(sealed)) return handle(sealed)
      const { outer } = formOf(chapter, {})
      const { length = grant.length ?? outer.big?.most ?? 0 } = sealed
      const leave = await room.take(grant, length, settings.queue, signal)
      try {
        return await handle(await readSealedBody(sealed, outer))
      } finally {
        leave()
      }
    },
  }
}

/** A chat by the protocol of others, whose body is opened as a whole. */
const chatIn = async (inside: Inside, sealed: Measured, grant: Grant, signal: AbortSignal): Promise<SealedReply> => {
  const leave = await inside.room.take(grant, sealed.length, inside.settings.queue, signal)
  try {
    const bytes = sealed instanceof Uint8Array ? sealed : await gathered(sealed)
    return await (await byEhbp()).chatByEhbp(inside, bytes, grant, inside.pace(grant), signal)
  } finally {
    leave()
  }
}

const gathered = async (parts: Exclude<Measured, Uint8Array>): Promise<Uint8Array> => {
  const bytes = gatheredBytes(parts.length)
  for await (const part of parts) bytes.add(part)
  return bytes.whole()
}

/** Both audio routes differ in the language of the text alone. */
const hearing = ({ settings, tools, forChat }: Inside, translate: boolean): Chapter => {
  const how = { translate, requireBinding: settings.requireBinding, tellSpeakers: speakersBy(tools) }
  return {
    outer: audioOuter,
    errand: 'free',
    run: async (opened, grant, signal, outer) =>
      (await transcribing()).transcribeSealed(opened, outer, how, grant, forChat, signal),
  }
}

/** What the enclave does, by routes. */
const chaptersOf = (inside: Inside): Readonly<Record<string, Chapter>> => {
  const { settings, tools, readers, forChat, room, pace } = inside
  const { queue, file: mostFile } = settings
  const { index, searchFor } = retrieval(forChat, readers, { ...settings.retrieval, mostFile, queue })
  const indexerOf = (grant: Grant): Indexer => ({ holder: grant, pace: pace(grant) })
  const making =
    (grant: Grant): ReserveMemory =>
    (size, signal) =>
      room.take(grant, size, queue, signal)
  const chapterOf = (tool: Tool): Chapter => ({
    outer: outerOf(tool),
    errand: tool.takes === undefined ? 'free' : 'billed',
    run: (opened, grant, signal, outer, enclaveFiles) => {
      const bench = { enclaveFiles, search: searchFor(indexerOf(grant)), mostFile, makeRoom: making(grant) }
      return runTool(opened, outer, tool, bench, signal)
    },
  })
  return {
    'rvenc/chat/completions': {
      outer: inferenceOuter,
      run: (opened, grant, signal, _, __, wish) => chatSealed(opened, grant, pace(grant), forChat, signal, wish),
    },
    'rvenc/decision': {
      outer: { ...inferenceOuter, ordered: true },
      run: async (opened, grant, signal) =>
        (await deciding()).decideSealed(opened, grant, forChat, settings.decision, signal),
    },
    'rvenc/embeddings': {
      outer: inferenceOuter,
      run: async (opened, grant, signal) => (await embedding()).embeddings(opened, grant, forChat, signal),
    },
    'rvenc/audio/transcriptions': hearing(inside, false),
    'rvenc/audio/translations': hearing(inside, true),
    'files/encrypted/index': {
      outer: indexRequest,
      errand: 'free',
      run: (opened, grant, signal, outer, enclaveFiles) => {
        const { tasks, listed } = indexRequest(outer)
        return index(tasks(opened), listed, indexerOf(grant), { enclaveFiles, makeRoom: making(grant) }, signal)
      },
    },
    ...Object.fromEntries(tools.map((tool) => [`tools/${tool.name}`, chapterOf(tool)])),
  }
}

/** Publishes the keys with their evidence. Evidence without a challenge is made once for a keyset. */
const keysetPublisher = ({ epochs, prover }: Inside) => {
  let cached: { readonly keyset: string; readonly evidence: Evidence } | null = null
  return async (challenge: Uint8Array): Promise<SignerKeyset> => {
    const body = epochs.keyset()
    const bytes = printKeyset(body)
    const keyset = toHex(bytes)
    const plain = challenge.every((byte) => byte === 0)
    const evidence =
      plain && cached?.keyset === keyset ? cached.evidence : await prover.prove(reportData(bytes, challenge))
    if (plain) cached = { keyset, evidence }
    const keys = body.keys.map((key) => ({
      enclaveKid: enclaveKid(key),
      // The key without a KEM is the hash of the keys that sign receipts.
      kem: kems.find(({ id }) => id === key.kem)?.name ?? 'receipts',
      public_key: toHex(key.publicKey),
      not_before: key.notBefore,
      not_after: key.notAfter,
    }))
    return { keyset, keys, receipt_keys: epochs.receiptKeys(), evidence }
  }
}

/** The receipt that the request asks for; null when it asks for none. */
const receiptFor = ({ settings, clock }: Inside, { receipt }: OpenedRequest): ReceiptRequest | null => {
  if (receipt === null) return null
  const { key, route, digest } = receipt
  const facts = { route, key: key.kid, release: toHex(settings.releaseDigest), epoch: key.epoch, begun: clock.now() }
  return { signer: key.signer, facts, digest }
}

/** One request, before it is opened. */
interface SealedCall {
  readonly route: string
  readonly chapter: Chapter
  readonly outer: Sealed
  readonly grant: Grant
  readonly enclaveFiles: EnclaveFiles
}

/** Before opening, failures are thrown in the clear. After it, each becomes a sealed answer. */
const handled = async (inside: Inside, call: SealedCall, signal: AbortSignal): Promise<SealedReply> => {
  const { open, clock, settings } = inside
  const { route, chapter, outer, grant, enclaveFiles } = call
  const form = formOf(chapter, outer)
  let opened: OpenedRequest
  try {
    opened = await open(route, form.outer, form.fields, inside.pace(grant))
  } catch (error) {
    if (error instanceof SealedRefusal) return sealedFailure(error.asker, error)
    throw error
  }
  const uses: ModelUse[] = []
  const wish = receiptFor(inside, opened)
  const run = () => chapter.run(opened, grant, signal, outer, enclaveFiles, wish)
  const wished = (reply: SealedReply) => (wish === null ? reply : withReceipt(reply, wish, opened.secret, clock))
  try {
    if (!chapter.errand) return await wished(await run())
    const { organization, key, models } = grant
    const full = (grant.full ?? []).map(({ model }) => model)
    const running = runErrand({ organization, key, queue: settings.queue, models, full, uses }, run)
    // A tool that goes on after its caller left keeps no place of the key, and its errand as long as it works.
    const reply = await unlessAborted(running, signal)
    const counted =
      reply.kind === 'body' && chapter.errand === 'billed' ? { ...reply, trailer: summedUses(uses) } : reply
    return await wished(counted)
  } catch (error) {
    signal.throwIfAborted()
    return sealedFailure(opened, error, summedUses(uses))
  }
}

/** True when a sealed body comes as bytes. */
const isLong = (sealed: Sealed | LongBody): sealed is LongBody =>
  sealed instanceof Uint8Array || Symbol.asyncIterator in sealed

type Measured = LongBody & { readonly length: number }

/** True when the length of a sealed body is known before the body has come. */
const isMeasured = (sealed: Sealed | LongBody): sealed is Measured => isLong(sealed) && sealed.length !== undefined

const formOf = ({ outer }: Chapter, fields: Sealed) => (typeof outer === 'function' ? outer(fields) : { outer, fields })

/** Throws Unavailable. */
const nothing = async (): Promise<never> => {
  throw new Unavailable()
}

/** The files of a call without stores. */
const none: EnclaveFiles = {
  file: nothing,
  content: nothing,
  keep: nothing,
  indexes: nothing,
  index: nothing,
  keepIndex: nothing,
}
