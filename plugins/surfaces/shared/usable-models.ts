import { mayUse, type Caller } from '../../../core/access/caller.ts'
import type { Request } from '../../../core/http/route.ts'
import type { Catalog } from '../../../core/inference/models/catalog.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import { unknownModel } from '../../../core/inference/models/find-model.ts'

/** A request of any dialect's list of models. */
export type ModelsRequest = Request<unknown, unknown, Caller>

/** The models that the key may use in the clear. */
export const usable = async ({ caller, signal }: ModelsRequest, catalog: Catalog): Promise<readonly Entry[]> =>
  (await catalog.list(signal)).filter(({ name, settings }) => settings.standard && mayUse(caller, name))

/** Throws when the key may not use the model, or there is none. */
export const usedBy = async (wanted: ModelsRequest, id: string, catalog: Catalog): Promise<Entry> => {
  const entry = await catalog.find(id, wanted.signal)
  if (entry?.settings.standard && mayUse(wanted.caller, entry.name)) return entry
  throw unknownModel(catalog, wanted.caller, id)
}
