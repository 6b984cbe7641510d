import type { Candidate } from '../../../core/inference/models/catalog-entry.ts'
import type { Upstream } from '../../../core/ports/upstream.ts'

/** An offer with the defaults of the configuration: weight 1, priority 1, and an unknown context. */
export const candidateOf = (
  upstream: Upstream,
  model: string,
  { weight = 1, priority = 1, context = null }: Partial<Candidate> = {},
): Candidate => ({
  id: `${upstream.name}/${model}`,
  upstream,
  provider: upstream.name,
  model,
  weight,
  priority,
  context,
})
