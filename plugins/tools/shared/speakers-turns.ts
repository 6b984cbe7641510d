/** 16 ms of speech. */
export interface Instant {
  /** Its place among all, also those without speech. */
  readonly index: number
  /** How it sounds; null where nothing is voiced. */
  readonly sound: Float32Array | null
  /** Nobody spoke right before. */
  readonly first: boolean
}

export interface Turn {
  /** From 0, in the order in which they are first heard. */
  readonly speaker: number
  /** Seconds. */
  readonly start: number
  readonly end: number
}

const perSecond = 62.5

/** Instants that each chance of speech stands for. */
const step = 2

/** Speech begins with a chance of the first and goes on with one of the second. */
const enough = { begin: 0.5, goOn: 0.35 }

/** Seconds: a shorter silence ends nothing, and what is shorter than the second is no speech. */
const gap = 0.2
const least = 0.2

/** Seconds within which one who goes on has not stopped. */
const breath = 0.5

/** What is spoken without a pause, by how likely speech is at each step. */
export const stretchesOf = (
  chances: Float32Array,
  soundAt: (index: number) => Float32Array | null,
): readonly (readonly Instant[])[] => {
  const stretches: (readonly Instant[])[] = []
  let start = -1
  let last = -1
  const end = () => {
    const count = (last + 1 - start) * step
    if (start >= 0 && count >= least * perSecond) {
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
    if (chance >= (start < 0 ? enough.begin : enough.goOn)) {
      if (start < 0) start = at
      last = at
    } else if (start >= 0 && (at - last) * step > gap * perSecond) end()
  }
  end()
  return stretches
}

/** Who speaks when, by whose voice each instant is. */
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
