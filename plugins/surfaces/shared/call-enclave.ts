import type { Supplied } from '../../../core/container.ts'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import { type Reply, bytes, json } from '../../../core/http/reply.ts'
import { Enclave, type SealedReply } from '../../../core/ports/enclave.ts'
import { bufferOf } from '../../shared/backend.ts'
import { ReceiptLog } from '../../sealed/log/receipt-log.ts'
import { sealedModels } from './priced-model.ts'

/** The needs of a route that sends sealed requests into the enclave. */
export const enclaveNeeds = { enclave: Enclave, receipts: ReceiptLog } as const

/** Sends a sealed request into the enclave. The receipt of the answer enters the log of its organisation. */
export const callEnclave = async (
  { enclave, receipts }: Supplied<typeof enclaveNeeds>,
  ...call: Parameters<Enclave['handle']>
): Promise<SealedReply> => {
  // The answer is booked by these.
  void sealedModels(enclave)()
  const reply = await enclave.handle(...call)
  const [, , { organization }] = call
  receipts.enter(organization, reply)
  return reply
}

type SealedBody = Extract<SealedReply, { kind: 'body' }>['body']

/** The members of a sealed answer, of which the receipt is there where it was wanted. */
interface SealedAnswer {
  readonly encryptedResponse?: string | Uint8Array
  readonly nonce?: string
  readonly encryptedReceipt?: string
  readonly receiptNonce?: string
}

/** Bytes whose digits are printed at once. */
const slice = 64 * 1024

/** The body with all bytes as digits, for an answer that is printed around it. */
export const inDigits = (body: SealedBody): SealedBody => {
  const { encryptedResponse: answer, ...others } = body as SealedAnswer
  return answer instanceof Uint8Array ? { ...others, encryptedResponse: bufferOf(answer).toString('hex') } : body
}

/** Sends the body by itself. The bytes of a long answer become digits on their way out, so that no text holds all of them. */
export const replyWithSealed = (body: SealedBody, headers: Readonly<Record<string, string>>): Reply => {
  const { encryptedResponse: answer, ...others } = body as SealedAnswer
  if (!(answer instanceof Uint8Array)) return json(body, 200, headers)
  const [before, behind] = [`${JSON.stringify(others).slice(0, -1)},"encryptedResponse":"`, '"}']
  const size = before.length + 2 * answer.length + behind.length
  return bytes(printed(before, bufferOf(answer), behind), 'application/json; charset=utf-8', size, 200, headers)
}

async function* printed(before: string, answer: Buffer, behind: string): AsyncGenerator<Buffer> {
  yield Buffer.from(before)
  for (let at = 0; at < answer.length; at += slice) {
    await freeTurn()
    yield Buffer.from(answer.toString('hex', at, at + slice), 'latin1')
  }
  yield Buffer.from(behind)
}
