import * as v from 'valibot'
import { enveloped } from '../../../core/http/envelope.ts'
import type { Chapter, Operation } from '../../../core/ports/chapter.ts'
import { exampleEnvelope } from '../shared/example-envelope.ts'
import { modelEntry } from '../shared/model-entry.ts'
import { catalogSample, catalogWords } from '../shared/catalog-words.ts'
import { userHeader } from '../../shared/sealed-user.ts'
import { receiptWords, receipts } from './receipts-chapter.ts'

const kid = '9f0a41c7d2e85b36'
const sealed = { encryptedInference: '5be1…', cipherText: '8d1f…', nonce: '07c2…', enclaveKid: kid }
const opened = { encryptedResponse: '41ad…', nonce: 'e9b0…' }
const reply = v.object({ encryptedResponse: v.string(), nonce: v.string() })

const hint = { 'x-enclave-kid': 'The id of the enclave key, for gateways with several enclaves.' }

/** Sealed calls whose end user has windows. */
const asks = { ...hint, [userHeader]: 'The end user of the call, in the clear, for windows of `endUser`: a pseudonym.' }

const audio: Operation = {
  about: 'The sound has at most 25 MiB. Neither the sound nor the transcript is stored.',
  body: {
    ...sealed,
    fileNameNonce: '3c58…',
    encryptedFileName: 'b7d4…',
    fileNonce: '6a19…',
    encryptedFile: 'f02e…',
  },
  shape: enveloped(reply),
  answer: { ...exampleEnvelope, data: opened },
  asks: hint,
  statuses: [400, 404, 502],
}

const key = { enclaveKid: kid, kem: 'x-wing', public_key: 'c4f0…', not_before: 1700000000000, not_after: 1700086400000 }

const keyset = { keyset: 'a61b…', keys: [key], evidence: { type: 'dev' } }

const signed = { text: '{"releases":[]}', signatures: [{ key: '77d0…', signature: '1e9c…' }] }

/** The chapter of sealed inference. The bytes of its bodies are described in `docs/wire.md`. */
export const rvenc: Chapter = {
  name: 'Sealed inference',
  about:
    'The caller seals a request to a key of the enclave, and only the enclave can open it. `sealgate seal` does this for any ' +
    'OpenAI client, and `sealgate/client` for programs; `docs/wire.md` has every byte. Hex in the examples is cut short.',
  words: {
    ...receiptWords,
    encryptedInference: 'The sealed JSON of all parameters, as hex.',
    'body.model': 'The name of a model, in the clear. A name inside the seal is the same.',
    fileNameNonce: 'The nonce of `encryptedFileName`, as hex.',
    encryptedFileName: 'The sealed name of the file, as hex.',
    fileNonce: 'The nonce of `encryptedFile`, as hex.',
    encryptedFile: 'The sealed sound, as hex.',
    keyset: 'The keys as the bytes that the evidence is about, as hex.',
    keys: 'The keys that the enclave opens requests with.',
    'keys.enclaveKid': 'The id of the key.',
    'keys.kem': 'The algorithm of the key agreement.',
    'keys.public_key': 'The public key, as hex.',
    'keys.not_before': 'The time from which the key holds, in Unix milliseconds.',
    'keys.not_after': 'The time until which the key holds, in Unix milliseconds.',
    receipt_keys: 'The keys that sign receipts of answers.',
    ed25519: 'The public key of Ed25519, as hex.',
    ml_dsa_65: 'The public key of ML-DSA-65, as hex.',
    evidence: 'What proves where the enclave runs.',
    'evidence.type': 'The kind of the evidence. The kind `dev` proves nothing.',
    'query.enclave': 'The name of an enclave, for gateways with several.',
    'query.challenge': 'Bytes that the caller draws, so that the evidence is fresh: 32 bytes as hex.',
    releases: 'The signed list of releases. It is null where the gateway has none.',
    notices: 'The signed list of notices. It is null where the gateway has none.',
    text: 'The signed bytes, as text.',
    signatures: 'Signatures over the text.',
    'signatures.key': 'The public key that signed, as hex.',
    'signatures.signature': 'The signature, as hex.',
  },
  operations: {
    'POST /rvenc/chat/completions': {
      about: 'Nothing is stored. A caller has one stream at a time.',
      body: sealed,
      shape: reply,
      answer: opened,
      types: {
        'text/event-stream':
          'With a sealed `stream`: `data` events with sealed frames, `heartbeat` events while the first is awaited, then `done`.',
      },
      asks,
      statuses: [404, 502],
    },
    'POST /rvenc/decision': {
      about: 'Nothing is stored.',
      body: sealed,
      shape: reply,
      answer: opened,
      asks,
      statuses: [404, 502],
    },
    'POST /rvenc/embeddings': {
      about: 'Nothing is stored.',
      body: sealed,
      shape: reply,
      answer: opened,
      asks,
      statuses: [404, 502],
    },
    'POST /rvenc/audio/transcriptions': audio,
    'POST /rvenc/audio/translations': audio,
    'GET /rvenc/keys': {
      about: 'A client checks the evidence before it seals.',
      answer: keyset,
      statuses: [404],
    },
    'GET /rvenc/attestation': {
      about: 'The evidence holds the challenge, so nobody can replay it.',
      query: { challenge: '0123456789abcdef'.repeat(4) },
      answer: keyset,
      statuses: [404],
    },
    'GET /rvenc/releases': {
      about: 'A client checks the signatures by its own policy.',
      answer: { releases: signed, notices: null },
    },
    ...receipts,
    'GET /rvenc/models': {
      about: 'Prices are those of the sealed plane.',
      shape: v.object({ object: v.literal('list'), data: v.array(modelEntry), keyset: v.looseObject({}) }),
      answer: { ...catalogSample, keyset },
      words: { ...catalogWords, 'answer.keyset': 'The answer of `GET /rvenc/keys`.' },
    },
  },
}
