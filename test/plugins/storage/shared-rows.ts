import type { Test } from 'tap'
import { Unavailable } from '../../../core/errors.ts'
import { kind, type MetadataStore } from '../../../core/ports/metadata-store.ts'

/** The work fails as a fault of the infrastructure; its cause is for the log alone. */
export const unavailable = async (t: Test, work: Promise<unknown>, cause?: RegExp): Promise<void> => {
  const fault: unknown = await work.then(
    () => null,
    (thrown) => thrown,
  )
  if (!(fault instanceof Unavailable)) return void t.fail('is Unavailable', { fault })
  t.equal(fault.message, 'Service temporarily unavailable')
  if (cause) t.match(`${(fault.cause as { code?: string }).code} ${(fault.cause as Error).message}`, cause)
}

const counts = kind<Record<string, number | null>>('counts')

/** No name that a caller chooses becomes a part of a query. */
export const keepsNamesOut = async (t: Test, store: MetadataStore): Promise<void> => {
  const name = `x"') or 1=1 --`
  const odd = { [name]: 1 }
  const indexed = kind<Readonly<Record<string, number>>>('y', [[name]])
  const refused: readonly (() => Promise<unknown>)[] = [
    () => store.list(kind(name), {}),
    () => store.list(counts, { where: odd }),
    () => store.list(counts, { order: { by: name } }),
    () => store.list(counts, { between: { field: name, from: 1 } }),
    () => store.update(counts, 'a', odd),
    () => store.update(counts, 'a', {}, odd),
    () => store.remove(counts, 'a', odd),
    () => store.create(indexed, 'a', { created: 1 }),
  ]
  for (const work of refused) await t.rejects(work(), /name that cannot be stored/)
  t.same(await store.add(counts, 'a', odd), odd, 'no query names what is added')
  const model = { 'gpt-4o.mini:tokens/in': 1 }
  t.same(await store.add(counts, 'm', model), model)
  t.same(await store.update(counts, 'm', {}, model), model)
}
