/** The nearest of the shapes that a model can draw; null for a size that tells none. */
export const ratioOf = (size: string, ratios: readonly string[]): string | null => {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size) ?? []
  if (!width || !height) return null
  const distance = (ratio: string): number => {
    const [wide, high] = ratio.split(':').map(Number) as [number, number]
    return Math.abs(Math.log(Number(width) / Number(height) / (wide / high)))
  }
  return ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best))
}
