import * as v from 'valibot'
import type { Caller } from '../access/caller.ts'
import { checked } from '../checked.ts'
import { NotFound, Unavailable } from '../errors.ts'
import { Cabinet } from '../files/cabinet.ts'
import { UploadFields } from '../files/arrival.ts'
import { shelfOf } from '../files/shelf.ts'
import { enveloped } from '../http/envelope.ts'
import { data, refused } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { BlobStore } from '../ports/blob-store.ts'
import { type Billed, Meter, type Reservation } from '../inference/meter.ts'
import { Enclave, type Trailer } from '../ports/enclave.ts'
import { MetadataStore } from '../ports/metadata-store.ts'
import { Tool } from '../ports/tool.ts'
import { billed } from './billed.ts'
import { grantOf } from './grant.ts'
import { hex } from './sealed-hex.ts'

const descriptor = v.object({
  name: v.string(),
  normalizedName: v.string(),
  shortName: v.string(),
  description: v.string(),
  /** Which fields it takes beside the sealed parameters. */
  kind: v.picklist(['simple', 'reads-file', 'makes-file', 'retrieval']),
})

const list = route({
  method: 'GET',
  path: '/tools',
  summary: 'Lists the tools.',
  access: 'anyone',
  answer: enveloped(v.array(descriptor)),
  needs: { tools: Tool },
  handle: (_, { tools }) =>
    data(
      tools.map(({ name, shortName, description, kind }) => ({
        name,
        normalizedName: name.toLowerCase(),
        shortName: shortName ?? name,
        description,
        kind,
      })),
    ),
})

const simple = { cipherText: hex.lasting, encryptedParams: hex.params, nonce: hex.nonce, enclaveKid: hex.enclaveKid }
const fileInput = { ...simple, encryptedFileDek: hex.key, fileNonce: hex.nonce }

/** What is sent beside the sealed parameters, by what the tool does. */
const variants = {
  simple: v.object(simple),
  'reads-file': v.object(fileInput),
  'makes-file': v.object({
    ...fileInput,
    kid: UploadFields.entries.kid,
    wrappedDek: UploadFields.entries.wrapped_dek,
  }),
  retrieval: v.object({ ...simple, encryptedRagDek: hex.key, ragDekNonce: hex.nonce }),
} satisfies Record<Tool['kind'], v.GenericSchema>

const execute = route({
  method: 'POST',
  path: '/tools/{id}',
  summary: 'Runs a tool inside the enclave. What is sent beside the sealed parameters depends on what the tool does.',
  access: { scope: 'tools.execute' },
  body: {
    read: 'json',
    schema: v.union([
      v.looseObject(variants['makes-file'].entries),
      v.looseObject(variants['reads-file'].entries),
      v.looseObject(variants.retrieval.entries),
      v.looseObject({}),
    ]),
    bytes: ({ bodies }) => bodies.chat * 2 + 8192,
  },
  needs: { tools: Tool, enclave: Enclave, meter: Meter, cabinet: Cabinet, blobs: BlobStore, rows: MetadataStore },
  async handle({ id, params, input, caller, signal }, { tools, enclave, meter, cabinet, blobs, rows }) {
    const tool = tools.find(({ name }) => name === params['id'])
    if (tool === undefined) throw new NotFound('No such tool')
    const sealed = checked(variants[tool.kind], input)
    const shelf = shelfOf(caller, { cabinet, blobs, rows })
    const pay = await paying(meter, caller, tool.takes)
    try {
      // Where models work for it, it comes to its end and is paid for, though the caller has left; its place is held until then.
      const stop = tool.takes === undefined ? signal : new AbortController().signal
      const reply = await enclave.handle(`tools/${tool.name}`, sealed, grantOf(id, caller), stop, shelf)
      if (reply.kind !== 'body') throw new Unavailable()
      void billed(enclave, reply.trailer).then((served) => pay(reply.trailer, served))
      return reply.failure === null ? data(reply.body) : refused(reply.status, reply.failure, reply.body)
    } catch (error) {
      pay(null, null)
      throw error
    }
  },
})

/** What a picture costs to look at and to describe, and a short recording to write down; corrected by what it was. */
const guess = { tokens: { input: 800, output: 256 }, seconds: 30 }

/** Reserves what the models may cost that work for a tool, and gives back how to settle it; what was not used is handed back. */
const paying = async (meter: Meter, caller: Caller, takes: Tool['takes'] = []) => {
  const words = takes.includes('tokens') ? await meter.reserve(caller, null, guess.tokens, 'confidential') : null
  const sound = takes.includes('audio')
    ? await meter.spendAudio(caller, null, guess.seconds, 'confidential').catch(async (error: unknown) => {
        await words?.cancel()
        throw error
      })
    : null
  return (trailer: Trailer | null, served: Billed | null): void => {
    const one = <T>(its: Reservation<T> | null, truth: T | null | undefined) =>
      void (truth == null ? its?.cancel() : its?.settle(truth, trailer!.backend, served))
    one(words, trailer?.usage)
    one(sound, trailer?.audioSeconds)
  }
}

export const tools = [list, execute] as const
