import { plugin } from './plugin.ts'
import { Siblings } from './ports/cluster.ts'
import { Ledger } from './ports/ledger.ts'

/** A process without siblings. */
export const alone = plugin({ port: Siblings, name: 'alone', create: () => ({ measured: async () => [] }) })

/** The ledger of a gateway that is given none: limits hold, and no use is recorded. */
export const uncounted = plugin({
  port: Ledger,
  name: 'uncounted',
  create: (): Ledger => ({ open: () => 0, settle() {}, keep() {}, cancel() {} }),
})
