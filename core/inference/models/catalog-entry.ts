import type { Dialect, ModelType, Upstream } from '../../ports/upstream.ts'
import type { ModelSettings } from '../../settings.ts'

/** What a backend can do with a model. Every ability but `decide` belongs to one type of model. */
export type Ability = 'chat' | 'decide' | 'transcribe' | 'speak' | 'draw' | 'embed'

/** A backend that has this ability. A backend without `decide` decides by chat. */
export type Able<A extends Ability> = [A] extends [never]
  ? Upstream
  : A extends 'decide'
    ? Upstream & (Required<Pick<Upstream, 'decide'>> | Required<Pick<Upstream, 'chat'>>)
    : Upstream & Required<Pick<Upstream, A>>

/** One backend's offer of a model; with an ability, an offer of a backend that has it. */
export interface Candidate<A extends Ability = never> {
  /** `provider/model`. */
  readonly id: string
  readonly upstream: Able<A>
  /** What the request field `provider` pins. */
  readonly provider: string
  /** The backend's own name of the model. */
  readonly model: string
  readonly weight: number
  /** 1 is asked first. */
  readonly priority: number
  /** Tokens of a prompt and its answer that it holds; null where nobody said. */
  readonly context: number | null
}

/** A model that callers can name, with everything that may answer for it. */
export interface Entry {
  /** What callers send and answers name. */
  readonly name: string
  readonly settings: ModelSettings
  /** By priority. */
  readonly candidates: readonly Candidate[]
  readonly does: ReadonlySet<Ability>
}

const abilities: Readonly<Record<ModelType, Ability>> = {
  CHAT: 'chat',
  AUDIO_TRANSCRIPTION: 'transcribe',
  AUDIO_SPEECH: 'speak',
  IMAGE: 'draw',
  EMBEDDING: 'embed',
  DECISION: 'decide',
}

/** A chat model decides when it is marked so, or when its backend can by itself. */
const isAble = (settings: ModelSettings, upstream: Upstream, ability: Ability): boolean =>
  ability === 'decide'
    ? (settings.type === 'CHAT' || settings.type === 'DECISION') &&
      (upstream.decide !== undefined || (settings.decide && upstream.chat !== undefined))
    : abilities[settings.type] === ability && upstream[ability] !== undefined

/** The dialect that the backend takes for this model; undefined for the common format. */
export const dialectOf = ({
  upstream: { dialect },
  model,
}: Pick<Candidate, 'upstream' | 'model'>): Dialect | undefined =>
  typeof dialect === 'function' ? dialect(model) : dialect

/** Narrows candidates to those whose backend has the ability for a model of these settings. */
export const isCandidateFor =
  <A extends Ability>(settings: ModelSettings, ability: A) =>
  (candidate: Candidate): candidate is Candidate<A> =>
    isAble(settings, candidate.upstream, ability)

/** The order within one priority stays that of the configuration. */
export const entryOf = (name: string, settings: ModelSettings, candidates: readonly Candidate[]): Entry => ({
  name,
  settings,
  candidates: candidates.toSorted((a, b) => a.priority - b.priority),
  does: new Set(
    (['chat', 'decide', 'transcribe', 'speak', 'draw', 'embed'] as const).filter((ability) =>
      candidates.some(({ upstream }) => isAble(settings, upstream, ability)),
    ),
  ),
})
