import * as v from 'valibot'
import { NotFound } from '../../../core/errors.ts'
import { data } from '../../../core/http/reply.ts'
import { route } from '../../../core/http/route.ts'
import { ReceiptLog } from '../../sealed/log/receipt-log.ts'

const log = route({
  method: 'GET',
  path: '/rvenc/receipts',
  summary: 'The log of receipts as the enclave signed it last, and how it continues an earlier size.',
  access: 'any-key',
  query: v.object({
    from: v.optional(v.pipe(v.string(), v.regex(/^\d{1,10}$/, 'a size of the log'), v.transform(Number))),
  }),
  needs: { receipts: ReceiptLog },
  async handle({ query: { from } }, { receipts }) {
    if (from === undefined) return data({ head: await receipts.head() })
    return data(await receipts.continued(from))
  },
})

const proof = route({
  method: 'GET',
  path: '/rvenc/receipts/{hash}',
  summary: 'Shows that a receipt of the organisation stands in the log.',
  access: 'any-key',
  needs: { receipts: ReceiptLog },
  async handle({ params, caller }, { receipts }) {
    const hash = params.hash.toLowerCase()
    const found = await receipts.proof(caller.organization, hash)
    if (found === 'unknown') throw new NotFound('No such receipt')
    return data({
      hash,
      place: found && { index: found.index, size: found.size, path: found.path },
      head: found?.head ?? null,
    })
  },
})

/** Any key may read the log. The proof of one receipt is for keys of its organisation. */
export const receiptRoutes = [log, proof] as const
