import * as v from 'valibot'
import { enveloped } from '../../../core/http/reply.ts'
import { userHeader } from '../../shared/sealed-user.ts'
import { catalogSample, catalogWords } from '../shared/catalog-words.ts'
import { modelEntry } from '../shared/model-entry.ts'
import { chapterOf } from '../shared/written-chapter.ts'
import written from './chapter.json' with { type: 'json' }

const { sealed: body, sound, opened, keyset, head: signed } = written.samples
const reply = v.object({ encryptedResponse: v.string(), nonce: v.string() })

const hint = { 'x-enclave-kid': 'The id of the enclave key, for gateways with several enclaves.' }

/** Sealed calls whose end user has windows. */
const asks = { ...hint, [userHeader]: 'The end user of the call, in the clear, for windows of `endUser`: a pseudonym.' }

const call = { body, shape: reply, answer: opened, asks }

const audio = { body: { ...body, ...sound }, shape: enveloped(reply), enveloped: { data: opened }, asks: hint }

const head = v.object({
  text: v.string(),
  ed25519: v.string(),
  ml_dsa_65: v.string(),
  enclave: v.optional(v.string()),
})

const { hash } = written.operations['GET /rvenc/receipts/{hash}'].path

/** The chapter of sealed inference. The bytes of its bodies are described in `docs/wire.md`. */
export const rvenc = chapterOf(written, {
  'POST /rvenc/chat/completions': call,
  'POST /rvenc/decision': call,
  'POST /rvenc/embeddings': call,
  'POST /rvenc/audio/transcriptions': audio,
  'POST /rvenc/audio/translations': audio,
  'GET /rvenc/keys': { answer: keyset },
  'GET /rvenc/attestation': { answer: keyset },
  'GET /rvenc/receipts': {
    shape: enveloped(v.object({ head: v.nullable(head), path: v.optional(v.array(v.string())) })),
    enveloped: { data: { head: signed } },
  },
  'GET /rvenc/receipts/{hash}': {
    shape: enveloped(
      v.object({
        hash: v.string(),
        place: v.nullable(v.object({ index: v.number(), size: v.number(), path: v.array(v.string()) })),
        head: v.nullable(head),
      }),
    ),
    enveloped: { data: { hash, place: { index: 0, size: 2, path: ['77d0'] }, head: signed } },
  },
  'GET /rvenc/models': {
    shape: v.object({ object: v.literal('list'), data: v.array(modelEntry), keyset: v.looseObject({}) }),
    answer: { ...catalogSample, keyset },
    words: { ...catalogWords, 'answer.keyset': 'The answer of `GET /rvenc/keys`.' },
  },
})
