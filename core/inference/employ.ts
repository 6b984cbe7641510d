import type { Supplied } from '../container.ts'
import { Unconfigured } from '../errors.ts'
import { Inference } from './attempt.ts'
import { Catalog, type Ability, type Candidate, type Entry } from './catalog.ts'

export const workNeeds = { catalog: Catalog, inference: Inference }

export interface Work {
  readonly ability: Ability
  /** The one that the tool's settings name; the first that can do it when absent. */
  readonly model?: string | undefined
  /** What it must take beside text. */
  readonly modality?: 'image'
}

/** Has a model do a tool's work, with the routing, retries and deadlines of every other call. Throws Unconfigured when there is none. */
export const employ = async <T>(
  { catalog, inference }: Supplied<typeof workNeeds>,
  work: Work,
  ask: (candidate: Candidate, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> => {
  signal.throwIfAborted()
  const { ability, model, modality } = work
  const able = ({ does, settings }: Entry) =>
    does.has(ability) && (modality === undefined || settings.input_modalities?.includes(modality) === true)
  const entries = model === undefined ? await catalog.list(signal) : [await catalog.find(model, signal)]
  const entry = entries.find((it) => it !== null && able(it))
  if (!entry) throw new Unconfigured({ validator: { models: expected[ability] } })
  return (await inference.run({ entry, ability }, ask, signal)).answer
}

const expected: Readonly<Record<Ability, string>> = {
  chat: 'Expected a chat model that takes what the tool gives it',
  decide: 'Expected a model that decides',
  transcribe: 'Expected a transcription model',
  speak: 'Expected a speech model',
  draw: 'Expected an image model',
  embed: 'Expected an embedding model',
}
