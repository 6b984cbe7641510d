/** From the upper left corner, in pixels. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Scored {
  readonly score: number
  readonly box: Box
}

/** A detector with a lower score guesses. Boxes that share more than `mostShared` show one object. */
const leastScore = 0.45
const mostShared = 0.4

/** Keeps the most certain of overlapping boxes, most certain first. */
export const withoutOverlaps = <T extends Scored>(found: readonly T[]): readonly T[] => {
  const kept: T[] = []
  const sure = found.filter(({ score }) => score >= leastScore)
  for (const one of sure.sort((a, b) => b.score - a.score)) {
    if (kept.every((other) => shared(one.box, other.box) < mostShared)) kept.push(one)
  }
  return kept
}

/** The shared area of two boxes, relative to their union. */
const shared = (a: Box, b: Box): number => {
  const both = common(a, b)
  return both / (areaOf(a) + areaOf(b) - both || 1)
}

/** True for a thing and a part of it. */
export const isSameThing = (a: Box, b: Box): boolean => common(a, b) > mostShared * Math.min(areaOf(a), areaOf(b))

/** The shared area; 0 for boxes that only touch. */
const common = (a: Box, b: Box): number => {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  return Math.max(0, width) * Math.max(0, height)
}

const areaOf = ({ width, height }: Box): number => width * height
