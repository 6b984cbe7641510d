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

/** Under this a detector is guessing; boxes that share more than this are of one thing. */
const leastScore = 0.45
const mostShared = 0.4

/** The surest of boxes that lie on one another, the surest first. */
export const suppressed = <T extends Scored>(found: readonly T[]): readonly T[] => {
  const kept: T[] = []
  const sure = found.filter(({ score }) => score >= leastScore)
  for (const one of sure.sort((a, b) => b.score - a.score)) {
    if (kept.every((other) => shared(one.box, other.box) < mostShared)) kept.push(one)
  }
  return kept
}

/** How much of what two boxes cover together they both cover. */
const shared = (a: Box, b: Box): number => {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  const both = Math.max(0, width) * Math.max(0, height)
  return both / (a.width * a.height + b.width * b.height - both || 1)
}
