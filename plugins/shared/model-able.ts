import { BadRequest } from '../../core/errors.ts'
import { type Entry, entryOf } from '../../core/inference/models/catalog-entry.ts'
import type { Upstream } from '../../core/ports/upstream.ts'

/** The model with those of its backends alone that can do it; throws BadRequest in these words where none can. */
export const modelAble = (
  { name, settings, candidates }: Entry,
  can: (upstream: Upstream) => boolean,
  field: string,
  expected: string,
): Entry => {
  const fit = candidates.filter(({ upstream }) => can(upstream))
  if (fit.length === 0) throw new BadRequest('The model does not do this', { validator: { [field]: expected } })
  return entryOf(name, settings, fit)
}
