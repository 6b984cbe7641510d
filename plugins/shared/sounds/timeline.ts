/** When something is heard, in seconds. */
export interface Heard {
  readonly start: number
  readonly end: number
}

/** The first place of which the number is at least this one; numbers ascend. */
const placeFrom = (numbers: Float64Array, least: number): number => {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] ?? 0) < least) low = middle + 1
    else high = middle
  }
  return low
}

/** Finds the words whose middle lies in a stretch, in their own order. */
export const wordsDuring = <W extends Heard>(words: readonly W[]): ((stretch: Heard) => readonly W[]) => {
  const middles = words.map(({ start, end }) => (start + end) / 2)
  const order = [...words.keys()].sort((one, other) => middles[one]! - middles[other]!)
  const ascending = Float64Array.from(order, (at) => middles[at]!)
  return ({ start, end }) =>
    order
      .slice(placeFrom(ascending, start), placeFrom(ascending, end))
      .sort((one, other) => one - other)
      .map((at) => words[at]!)
}

/** In seconds: what two have in common. Negative without anything in common: the distance between them. */
const shared = (one: Heard, other: Heard): number => Math.min(one.end, other.end) - Math.max(one.start, other.start)

/** Turns of speakers, by the time at which they are heard. */
export interface Timeline<T extends Heard> {
  /** The turn that has most in common with a stretch, or the nearest one. Of equal turns the first; null without turns. */
  nearest(stretch: Heard): T | null
  /** Each turn that has some seconds in common with a stretch. */
  common(stretch: Heard): Generator<readonly [turn: T, seconds: number]>
}

export const timelineOf = <T extends Heard>(turns: readonly T[]): Timeline<T> => {
  const order = [...turns.keys()].sort((one, other) => turns[one]!.start - turns[other]!.start)
  const starts = Float64Array.from(order, (at) => turns[at]!.start)
  /** The latest end of a turn and of all that begin before it. */
  const ends = new Float64Array(order.length)
  for (const [place, at] of order.entries()) ends[place] = Math.max(ends[place - 1] ?? -Infinity, turns[at]!.end)
  return {
    nearest(stretch) {
      let [found, most] = [-1, -Infinity]
      const look = (at: number): void => {
        const seconds = shared(stretch, turns[at]!)
        if (seconds > most || (seconds === most && at < found)) [found, most] = [at, seconds]
      }
      const behind = placeFrom(starts, stretch.end)
      // Of those that begin behind the stretch the first is the nearest.
      if (behind < order.length) look(order[behind]!)
      for (let place = behind - 1; place >= 0 && ends[place]! - stretch.start >= most; place--) look(order[place]!)
      return turns[found] ?? null
    },
    *common(stretch) {
      for (let place = placeFrom(starts, stretch.end) - 1; place >= 0 && ends[place]! > stretch.start; place--) {
        const turn = turns[order[place]!]!
        const seconds = shared(stretch, turn)
        if (seconds > 0) yield [turn, seconds]
      }
    },
  }
}
