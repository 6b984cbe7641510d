import { mayUse, type Caller } from '../../../core/access/caller.ts'
import { freeTurn } from '../../../core/dialects/loop-time.ts'
import type { Request } from '../../../core/http/route.ts'
import type { Catalog } from '../../../core/inference/models/catalog.ts'
import type { Entry } from '../../../core/inference/models/catalog-entry.ts'
import { unknownModel } from '../../shared/models/find-model.ts'
import type { ModelRules } from '../../shared/rules/rules.ts'

/** A request of any dialect's list of models. */
export type ModelsRequest = Request<unknown, unknown, Caller>

/** The models that the key may use in the clear. A turn of the loop makes one list: thousands of models take milliseconds. */
export const usable = async (
  { caller, signal }: ModelsRequest,
  { catalog, rules }: Listed,
): Promise<readonly Entry[]> => {
  const named = await Promise.all(
    rules.flatMap(({ names }) => names).map((name) => ruled(name, { catalog, rules }, signal)),
  )
  const entries = [...(await catalog.list(signal)), ...named.flatMap((entry) => entry ?? [])]
  await freeTurn()
  return entries.filter(({ name, settings }) => settings.standard && mayUse(caller, name))
}

interface Listed {
  readonly catalog: Catalog
  readonly rules: readonly ModelRules[]
}

/** A rule is listed as its model for what is undecided, under its own name and in the clear; null where no rule has the name. */
const ruled = async (name: string, { catalog, rules }: Listed, signal: AbortSignal): Promise<Entry | null> => {
  for (const rule of rules) {
    const model = rule.otherwise(name)
    const entry = model === null ? null : await catalog.find(model, signal)
    if (entry === null) continue
    const { id: _, ...settings } = entry.settings
    return { ...entry, name, settings: { ...settings, name, confidential: false } }
  }
  return null
}

/** Throws when the key may not use the model, or there is none. */
export const usedBy = async (wanted: ModelsRequest, id: string, listed: Listed): Promise<Entry> => {
  const { catalog } = listed
  const entry = (await ruled(id, listed, wanted.signal)) ?? (await catalog.find(id, wanted.signal))
  if (entry?.settings.standard && mayUse(wanted.caller, entry.name)) return entry
  throw unknownModel(catalog, wanted.caller, id)
}
