import * as v from 'valibot'
import { enveloped } from '../../../core/http/envelope.ts'
import type { Operation } from '../../../core/ports/chapter.ts'
import { exampleEnvelope } from '../shared/example-envelope.ts'

const head = v.object({
  text: v.string(),
  ed25519: v.string(),
  ml_dsa_65: v.string(),
  enclave: v.optional(v.string()),
})

const hash = 'c1f2'.repeat(16)

const signed = { text: '{"v":1,"size":2}', ed25519: '1e9c…', ml_dsa_65: '5a07…' }

/** Sentences for members of the log, which stand in the chapter of sealed inference. */
export const receiptWords = {
  'path.hash': 'The hash of the receipt’s text, as hex.',
  'query.from': 'An earlier size of the log, whose continuation is wanted.',
  'data.head': 'The log as the enclave signed it. It is null before the first receipt.',
  'head.text': 'The signed facts of the log: its name, size and root.',
  'head.ed25519': 'The signature of Ed25519, as hex.',
  'head.ml_dsa_65': 'The signature of ML-DSA-65, as hex.',
  'head.enclave': 'The name of the enclave that signed, for gateways with several.',
  'data.path': 'Hashes that lead from the earlier size to the head.',
  'data.hash': 'The hash of the receipt.',
  'data.place': 'Where the receipt stands. It is null for a receipt that waits for its entry.',
  'place.index': 'The place of the receipt, from 0.',
  'place.size': 'The size of the log that the path belongs to.',
  'place.path': 'Hashes that lead from the receipt to the root.',
} as const

/** The routes of the log of receipts. */
export const receipts: Readonly<Record<string, Operation>> = {
  'GET /rvenc/receipts': {
    about: 'A client that keeps heads notices a log that changes or loses a receipt.',
    shape: enveloped(v.object({ head: v.nullable(head), path: v.optional(v.array(v.string())) })),
    answer: { ...exampleEnvelope, data: { head: signed } },
    statuses: [404],
  },
  'GET /rvenc/receipts/{hash}': {
    path: { hash },
    shape: enveloped(
      v.object({
        hash: v.string(),
        place: v.nullable(v.object({ index: v.number(), size: v.number(), path: v.array(v.string()) })),
        head: v.nullable(head),
      }),
    ),
    answer: { ...exampleEnvelope, data: { hash, place: { index: 0, size: 2, path: ['77d0'] }, head: signed } },
  },
}
