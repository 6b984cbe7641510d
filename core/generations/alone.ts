import { plugin } from '../plugin.ts'
import { Siblings } from '../ports/cluster.ts'

/** A process without siblings. */
export const alone = plugin({ port: Siblings, name: 'alone', create: () => ({ measured: async () => [] }) })
