import type { Supplied } from '../../core/container.ts'
import { type ModelUse, currentErrand } from './errand.ts'
import { TooMany, Unconfigured } from '../../core/errors.ts'
import { provenBy } from '../../core/inference/proven.ts'
import { type Ability, type Candidate, type Entry, entryOf } from '../../core/inference/models/catalog-entry.ts'
import type { workNeeds } from './work-needs.ts'

/** What a tool wants of a model. */
export interface ModelWork<A extends Ability = Ability> {
  readonly ability: A
  /** The one that the tool's settings name; when absent the first that can do it, a model that only pretends last. */
  readonly model?: string | undefined
  /** What it must take beside text. */
  readonly modality?: 'image'
}

/** The usage of an answer, as the backend reports it or as a guess. */
export type CostOf<T> = (answer: T) => Partial<Pick<ModelUse, 'usage' | 'audioSeconds'>>

/** A model's answer to a tool, with the name of the model for the tool's own report. */
export interface ModelResult<T> {
  readonly answer: T
  /** As callers name it. */
  readonly model: string
}

/** Whether the key that the errand is for may use the model. */
export const mayWork = ({ name }: Entry): boolean => {
  const models = currentErrand()?.models ?? null
  return models === null || models.includes(name)
}

/**
 * Has a model do a tool's work, with the routing, retries and deadlines of every other call, on the bill of the tool's
 * caller. Throws TooMany where no model has room, Unconfigured when the caller may use no such model, and where every embedding model pretends.
 */
export const runForTool = async <T, A extends Ability>(
  { catalog, inference }: Supplied<typeof workNeeds>,
  work: ModelWork<A>,
  ask: (candidate: Candidate<A>, signal: AbortSignal) => Promise<T>,
  cost: CostOf<T>,
  signal: AbortSignal,
): Promise<ModelResult<T>> => {
  signal.throwIfAborted()
  const { ability, model, modality } = work
  const able = ({ does, settings }: Entry) =>
    does.has(ability) && (modality === undefined || settings.input_modalities?.includes(modality) === true)
  const entries = model === undefined ? await catalog.list(signal) : [await catalog.find(model, signal)]
  const allowed = entries.filter((entry): entry is Entry => entry !== null && able(entry) && mayWork(entry))
  const fit = allowed.filter(({ name }) => currentErrand()?.full?.includes(name) !== true)
  if (fit.length < allowed.length && fit.length === 0) throw new TooMany('Window used up')
  const entry = earnest(fit, able) ?? (ability === 'embed' ? undefined : fit[0])
  if (!entry) throw new Unconfigured({ validator: { models: expected[ability] } })
  const { answer, backend } = await inference.run({ entry, ability }, ask, signal)
  currentErrand()?.uses.push({
    model: entry.name,
    backend,
    usage: null,
    audioSeconds: null,
    ...cost(answer),
    ...provenBy(answer),
  })
  return { answer, model: entry.name }
}

/** The first model that has a backend which doesn't pretend, with no other backends; undefined when every model pretends. */
const earnest = (entries: readonly Entry[], able: (entry: Entry) => boolean): Entry | undefined => {
  for (const { name, settings, candidates } of entries) {
    const entry = entryOf(
      name,
      settings,
      candidates.filter(({ upstream }) => upstream.pretends !== true),
    )
    if (able(entry)) return entry
  }
  return undefined
}

const expected: Readonly<Record<Ability, string>> = {
  chat: 'Expected a chat model that takes what the tool gives it',
  decide: 'Expected a model that decides',
  transcribe: 'Expected a transcription model',
  speak: 'Expected a speech model',
  draw: 'Expected an image model',
  embed: 'Expected an embedding model',
}
