import type { Box } from './ocr-engine.ts'

/** The area that two boxes share, by the area that they cover together: 0 to 1. */
export const overlapOf = (one: Box, other: Box): number => {
  const across = Math.min(one.right, other.right) - Math.max(one.left, other.left)
  const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
  if (across <= 0 || down <= 0) return 0
  return (across * down) / (areaOf(one) + areaOf(other) - across * down)
}

const areaOf = ({ left, top, right, bottom }: Box): number => (right - left) * (bottom - top)
