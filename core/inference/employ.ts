import type { Supplied } from '../container.ts'
import { Unconfigured } from '../errors.ts'
import { Inference } from './attempt.ts'
import { type Use, bill } from './bill.ts'
import { Catalog } from './catalog.ts'
import type { Ability, Candidate, Entry } from './entry.ts'

export const workNeeds = { catalog: Catalog, inference: Inference }

export interface Work {
  readonly ability: Ability
  /** The one that the tool's settings name; the first that can do it when absent. */
  readonly model?: string | undefined
  /** What it must take beside text. */
  readonly modality?: 'image'
}

/** What an answer took of the model, as far as that is told or can be guessed. */
export type Cost<T> = (answer: T) => Partial<Pick<Use, 'usage' | 'audioSeconds'>>

export interface Done<T> {
  readonly answer: T
  /** As callers name it. */
  readonly model: string
}

/**
 * Has a model do a tool's work, with the routing, retries and deadlines of every other call, on the bill of whoever called
 * the tool. Throws Unconfigured when there is none.
 */
export const employ = async <T>(
  { catalog, inference }: Supplied<typeof workNeeds>,
  work: Work,
  ask: (candidate: Candidate, signal: AbortSignal) => Promise<T>,
  cost: Cost<T>,
  signal: AbortSignal,
): Promise<Done<T>> => {
  signal.throwIfAborted()
  const { ability, model, modality } = work
  const able = ({ does, settings }: Entry) =>
    does.has(ability) && (modality === undefined || settings.input_modalities?.includes(modality) === true)
  const entries = model === undefined ? await catalog.list(signal) : [await catalog.find(model, signal)]
  const entry = entries.find((it) => it !== null && able(it))
  if (!entry) throw new Unconfigured({ validator: { models: expected[ability] } })
  const { answer, backend } = await inference.run({ entry, ability }, ask, signal)
  bill({ model: entry.name, backend, usage: null, audioSeconds: null, ...cost(answer) })
  return { answer, model: entry.name }
}

const expected: Readonly<Record<Ability, string>> = {
  chat: 'Expected a chat model that takes what the tool gives it',
  decide: 'Expected a model that decides',
  transcribe: 'Expected a transcription model',
  speak: 'Expected a speech model',
  draw: 'Expected an image model',
  embed: 'Expected an embedding model',
}
