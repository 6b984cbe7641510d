import * as v from 'valibot'
import type { Caller } from '../../../core/access/caller.ts'
import { checked } from '../../../core/validate.ts'
import { BadRequest, NotFound, Unavailable } from '../../../core/errors.ts'
import { FileStore } from '../../sealed/files/file-store.ts'
import { UploadFields } from '../../sealed/files/upload.ts'
import { enclaveFilesOf } from '../../sealed/files/enclave-files.ts'
import { enveloped, data, refused } from '../../../core/http/reply.ts'
import { type SealedBody, type SealedSchema, route } from '../../../core/http/route.ts'
import { lazy } from '../../../core/plugin.ts'
import { BlobStore } from '../../../core/ports/blob-store.ts'
import { type BilledModel, Meter, type Reservation, type SealedModels } from '../../../core/inference/metering/meter.ts'
import type { EnclaveFiles, SealedReply, Trailer } from '../../../core/ports/enclave.ts'
import { MetadataStore } from '../../../core/ports/metadata-store.ts'
import { Clock } from '../../../core/ports/platform.ts'
import type { RequestRecord } from '../../../core/ports/observer.ts'
import { Tool } from '../../../core/ports/tool.ts'
import { billedModel, sealedModels } from '../shared/priced-model.ts'
import { callEnclave, enclaveNeeds, inDigits } from '../shared/call-enclave.ts'
import { grantOf } from '../shared/grant.ts'
import { hex } from '../../shared/sealed-hex.ts'
import type { Soon } from '../../../core/ports/soon.ts'

const describing = lazy(() => import('../shared/tool-schema.ts'))

const descriptor = v.object({
  name: v.string(),
  normalizedName: v.string(),
  shortName: v.string(),
  description: v.string(),
  /** Which fields it takes beside the sealed parameters. */
  kind: v.picklist(['simple', 'reads-file', 'makes-file', 'retrieval']),
  /** What the sealed parameters are, as JSON schema. */
  parameters: v.looseObject({}),
})

const list = route({
  method: 'GET',
  path: '/tools',
  summary: 'Lists the tools.',
  access: 'anyone',
  answer: enveloped(v.array(descriptor)),
  needs: { tools: Tool },
  async handle(_, { tools }) {
    const { parametersOf } = await describing()
    return data(
      tools.map((tool) => ({
        name: tool.name,
        normalizedName: tool.name.toLowerCase(),
        shortName: tool.shortName ?? tool.name,
        description: tool.description,
        kind: tool.kind,
        parameters: parametersOf(tool),
      })),
    )
  },
})

const simple = { cipherText: hex.lasting, encryptedParams: hex.params, nonce: hex.nonce, enclaveKid: hex.enclaveKid }
const fileInput = { ...simple, encryptedFileDek: hex.key, fileNonce: hex.nonce }

/** What is sent beside the sealed parameters, by what the tool does. */
export const variants = {
  simple: v.object(simple),
  'reads-file': v.object(fileInput),
  'makes-file': v.object({
    ...fileInput,
    kid: UploadFields.entries.kid,
    wrappedDek: UploadFields.entries.wrapped_dek,
    /** An id that the client chose for the result. */
    fileId: v.optional(v.pipe(v.string(), v.maxLength(100))),
  }),
  retrieval: v.object({ ...simple, encryptedRagDek: hex.key, ragDekNonce: hex.nonce }),
} satisfies Record<Tool['kind'], v.GenericSchema>

const execute = route({
  method: 'POST',
  path: '/tools/{id}',
  summary: 'Runs a tool inside the enclave. What is sent beside the sealed parameters depends on what the tool does.',
  access: { scope: 'tools.execute' },
  body: {
    read: 'sealed',
    schema: v.union([
      v.looseObject(variants['makes-file'].entries),
      v.looseObject(variants['reads-file'].entries),
      v.looseObject(variants.retrieval.entries),
      v.looseObject({}),
    ]) as SealedSchema,
    bytes: ({ bodies }) => bodies.chat * 2 + 8192,
  },
  needs: {
    tools: Tool,
    ...enclaveNeeds,
    meter: Meter,
    fileStore: FileStore,
    blobs: BlobStore,
    rows: MetadataStore,
    clock: Clock,
  },
  async handle({ id, record, params, input, caller, signal }, supplied) {
    const { tools, enclave, meter, fileStore, blobs, rows, clock } = supplied
    const tool = tools.find(({ name }) => name === params.id)
    if (tool === undefined) throw new NotFound('No such tool')
    // A long body is looked at by the enclave alone, which has the same checks.
    const sealed =
      input instanceof Uint8Array
        ? input
        : checked<v.GenericSchema<unknown, SealedBody>>(variants[tool.kind] as never, input)
    if (!(sealed instanceof Uint8Array) && typeof sealed['fileId'] === 'string')
      await fileStore.admit(sealed['fileId'], 'fileId')
    const { enclaveFiles, unkept } = keeping(enclaveFilesOf(caller, { fileStore, blobs, rows, clock }, tool.makes))
    const { pay, full } = await paying(meter, caller, sealedModels(enclave), record, tool.takes)
    let reply: Extract<SealedReply, { kind: 'body' }>
    try {
      // Where models work for it, it comes to its end and is paid for, though the caller has left; its place is held until then.
      const stop = tool.takes === undefined ? signal : new AbortController().signal
      const answer = await callEnclave(
        supplied,
        `tools/${tool.name}`,
        sealed,
        grantOf(id, caller, full),
        stop,
        enclaveFiles,
      )
      if (answer.kind !== 'body') throw new Unavailable()
      reply = answer
    } catch (error) {
      pay(null, null)
      throw error
    }
    const { trailer, failure, status, body, retryAfter } = reply
    void billedModel(enclave, trailer).then((served) => pay(trailer, served))
    if (failure === null) return data(inDigits(body))
    // The enclave never hears why a store refused a file, and calls it a fault that passes.
    const refusal = unkept()
    if (refusal !== null) throw refusal
    return refused(status, failure, body, retryAfter)
  },
})

/** The same files; `unkept` is the refusal of a file that was made, such as of one over the quota, and null without one. */
const keeping = (files: EnclaveFiles) => {
  let refusal: BadRequest | null = null
  const enclaveFiles: EnclaveFiles = {
    ...files,
    async keep(...given) {
      try {
        return await files.keep(...given)
      } catch (error) {
        if (error instanceof BadRequest) refusal = error
        throw error
      }
    },
  }
  return { enclaveFiles, unkept: (): BadRequest | null => refusal }
}

/** The cost of describing a picture and of transcribing a short recording; corrected by the real usage. */
const guess = { tokens: { input: 800, output: 256 }, seconds: 30 }

/** The second of two reservations; where it is refused, the first one is handed back. */
const soundBeside = async (first: Reservation<unknown> | null, reserve: () => Soon<Reservation<number>>) => {
  try {
    return await reserve()
  } catch (refusal) {
    await first?.cancel()
    throw refusal
  }
}

/** Reserves the cost of the models that work for a tool. `pay` settles it and hands the rest back. */
const paying = async (
  meter: Meter,
  caller: Caller,
  models: SealedModels,
  record: RequestRecord,
  takes: Tool['takes'] = [],
) => {
  const words = takes.includes('tokens') ? await meter.reserve(caller, models, guess.tokens, record) : null
  const sound = takes.includes('audio')
    ? await soundBeside(words, () => meter.spendAudio(caller, models, guess.seconds, record))
    : null
  const pay = (trailer: Trailer | null, served: BilledModel | null): void => {
    const one = <T>(reservation: Reservation<T> | null, truth: T | null | undefined) =>
      void (truth == null || trailer === null
        ? reservation?.cancel()
        : reservation?.settle(truth, trailer.backend, served))
    one(words, trailer?.usage)
    one(sound, trailer?.audioSeconds)
  }
  return { pay, full: words?.full ?? sound?.full }
}

/** The list needs no key: names and schemas of tools are the same for all. */
export const toolRoutes = [list, execute] as const
