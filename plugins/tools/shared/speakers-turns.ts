/** 16 ms of speech. */
export interface Instant {
  /** The place among all instants, including those without speech. */
  readonly index: number
  /** The sound of the instant; null when no voice sounds. */
  readonly sound: Float32Array | null
  /** True when silence comes before the instant. */
  readonly first: boolean
}

/** One speaker without a break, short breaths aside. */
export interface Turn {
  /** From 0, in the order of the first words. */
  readonly speaker: number
  /** In seconds. */
  readonly start: number
  readonly end: number
}

/** Instants of 16 ms in a second. */
const perSecond = 62.5

/** In instants: the length of each probability of speech. */
const step = 2

/** Speech begins at the first probability and continues above the second. */
const speechProbability = { begin: 0.5, goOn: 0.35 }

/** In seconds: a shorter silence ends no stretch, and a stretch shorter than `leastSeconds` is no speech. */
const gap = 0.2
const leastSeconds = 0.2

/** In seconds: a speaker who continues within this time has not stopped. */
const breath = 0.5

/** Stretches of speech without a pause, from the probabilities of speech. */
export const stretchesOf = (
  chances: Float32Array,
  soundAt: (index: number) => Float32Array | null,
): readonly (readonly Instant[])[] => {
  const stretches: (readonly Instant[])[] = []
  let start = -1
  let last = -1
  const end = () => {
    const count = (last + 1 - start) * step
    if (start >= 0 && count >= leastSeconds * perSecond) {
      const instants = Array.from({ length: count }, (_, at) => ({
        index: start * step + at,
        sound: soundAt(start * step + at),
        first: at === 0,
      }))
      stretches.push(instants)
    }
    start = -1
  }
  for (const [at, chance] of chances.entries()) {
    if (chance >= (start < 0 ? speechProbability.begin : speechProbability.goOn)) {
      if (start < 0) start = at
      last = at
    } else if (start >= 0 && (at - last) * step > gap * perSecond) end()
  }
  end()
  return stretches
}

/** The turns of speakers, from the voice of each instant. */
export const turnsOf = (instants: readonly Instant[], voices: Uint8Array): readonly Turn[] => {
  const order = [...new Set(voices)]
  const turns: { readonly speaker: number; readonly start: number; end: number }[] = []
  for (const [at, { index }] of instants.entries()) {
    const speaker = order.indexOf(voices[at] ?? -1)
    const start = index / perSecond
    const end = (index + 1) / perSecond
    const last = turns.at(-1)
    if (last?.speaker === speaker && start - last.end <= breath) last.end = end
    else turns.push({ speaker, start, end })
  }
  return turns
}
