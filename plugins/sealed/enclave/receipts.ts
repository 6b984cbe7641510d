import type { Clock } from '../../../core/ports/platform.ts'
import type { SealedReply, Trailer } from '../../../core/ports/enclave.ts'
import type { ReceiptTrailer } from '../log-signer.ts'
import { utf8, fromHex, toHex } from '../wire/bytes.ts'
import { headSigned } from '../wire/log.ts'
import {
  type Receipt,
  type ReceiptFacts,
  answerPieces,
  receiptKeysHash,
  receiptLeaf,
  receiptsSigned,
} from '../wire/receipt.ts'
import { freshNonce, sealPrinted } from '../wire/seal.ts'
import { digestInTurns } from './long-bytes.ts'
import { type Pair, signingPair } from '../wire/signature.ts'
import { treeOf } from '../wire/tree.ts'

/** The receipt keys of one epoch. The keys exist only in this memory. */
export interface Signer {
  readonly keys: Pair
  /** The hash that the keyset names. */
  readonly hash: Uint8Array
  /** One signature per tick covers all waiting receipts. */
  sign(facts: Omit<ReceiptFacts, 'number'>): Promise<Receipt>
  /** Signs a state of the log of receipts. */
  signHead(text: string): Pair
}

/** A receipt that waits for the signature of its tick. */
interface Waiting {
  readonly text: string
  tell(receipt: Receipt): void
}

/** New keys. A batch matters, since ML-DSA signs far slower than the rest of a receipt is made. */
export const receiptSigner = (): Signer => {
  const { keys, sign } = signingPair()
  let waiting: Waiting[] = []
  let count = 0

  const signAll = (): void => {
    const batch = waiting
    waiting = []
    const { root, places } = treeOf(batch.map(({ text }) => receiptLeaf(text)))
    const made = sign(receiptsSigned(root))
    for (const [at, { text, tell }] of batch.entries()) tell({ text, place: places[at]!, ...made })
  }

  return {
    keys,
    hash: receiptKeysHash(keys)!,
    signHead: (text) => sign(headSigned(text)),
    sign: (facts) =>
      new Promise((tell) => {
        if (waiting.length === 0) setImmediate(signAll)
        waiting.push({ text: JSON.stringify({ ...facts, number: ++count }), tell })
      }),
  }
}

/** The data for the receipt of a request. */
export interface ReceiptRequest {
  readonly signer: Signer
  /** The digest of the sealed request. */
  readonly digest: Uint8Array
  readonly facts: Pick<ReceiptFacts, 'route' | 'key' | 'release' | 'epoch' | 'begun'>
}

/** The hash by which the log knows a receipt. */
export const entryOf = ({ text }: Receipt): string => toHex(receiptLeaf(text))

/** A receipt for an answer with this digest. */
export const receiptOf = (
  { signer, digest, facts }: ReceiptRequest,
  answer: Uint8Array,
  { model, backend, proven, usage, audioSeconds }: Trailer,
  clock: Clock,
): Promise<Receipt> =>
  signer.sign({
    v: 1,
    ...facts,
    request: toHex(digest),
    answer: toHex(answer),
    model,
    backend,
    tokens: usage && { input: usage.input, output: usage.output },
    audioSeconds,
    ended: clock.now(),
    ...(proven && { backendEvidence: proven }),
  })

/** A whole answer with its sealed receipt. A failure has no receipt. */
export const withReceipt = async (
  reply: SealedReply,
  request: ReceiptRequest,
  secret: Uint8Array,
  clock: Clock,
): Promise<SealedReply> => {
  if (reply.kind !== 'body' || reply.failure !== null) return reply
  const { encryptedResponse, nonce } = reply.body
  const sealed = typeof encryptedResponse === 'string' ? fromHex(encryptedResponse, Infinity) : encryptedResponse
  if (!(sealed instanceof Uint8Array) || typeof nonce !== 'string') return reply
  const receipt = await receiptOf(
    request,
    await digestInTurns(answerPieces(fromHex(nonce, 24)!, sealed)),
    reply.trailer,
    clock,
  )
  const receiptNonce = freshNonce()
  const printed = sealPrinted(secret, receiptNonce, utf8(JSON.stringify(receipt)))
  const body = { ...reply.body, encryptedReceipt: toHex(printed), receiptNonce: toHex(receiptNonce) }
  const trailer: ReceiptTrailer = { ...reply.trailer, receipt: entryOf(receipt) }
  return { ...reply, body, trailer }
}
