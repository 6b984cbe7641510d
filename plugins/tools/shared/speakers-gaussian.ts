/** The number at a place that the caller knows to exist. */
const of = (numbers: Float32Array | Float64Array, place: number): number => numbers[place] ?? 0

/** The sums over a set of frames. They suffice to fit a normal distribution and to join sets without their frames. */
export interface FrameSums {
  readonly count: number
  /** The sums of each number, and of each product of two numbers. Only the lower half of `second` is filled. */
  readonly first: Float64Array
  readonly second: Float64Array
}

/** A normal distribution. `root` is the lower triangle whose square is the covariance. */
export type NormalDistribution = Readonly<ReturnType<typeof normalOf>>

/** `size` is the count of numbers in a frame. The frames are read once. */
export const sumsOf = (frames: Iterable<Float32Array>, size: number): FrameSums => {
  const first = new Float64Array(size)
  const second = new Float64Array(size * size)
  let count = 0
  for (const frame of frames) {
    count++
    for (let row = 0; row < size; row++) {
      first[row] = of(first, row) + of(frame, row)
      for (let column = 0; column <= row; column++) {
        const place = row * size + column
        second[place] = of(second, place) + of(frame, row) * of(frame, column)
      }
    }
  }
  return { count, first, second }
}

/** The sums of both sets together, in a new object. */
export const addedSums = (one: FrameSums, other: FrameSums): FrameSums => ({
  count: one.count + other.count,
  first: one.first.map((value, at) => value + of(other.first, at)),
  second: one.second.map((value, at) => value + of(other.second, at)),
})

/** Scales the sums down to at most `most` frames. */
export const scaledSums = (sums: FrameSums, most: number): FrameSums => {
  if (sums.count <= most) return sums
  const share = most / sums.count
  return {
    count: most,
    first: sums.first.map((value) => value * share),
    second: sums.second.map((value) => value * share),
  }
}

/** The common covariance within the sets. */
export const spreadWithin = (sets: readonly FrameSums[], size: number): Float64Array => {
  const spread = new Float64Array(size * size)
  let count = 0
  for (const { count: frames, first, second } of sets) {
    count += frames
    for (let row = 0; row < size; row++) {
      for (let column = 0; column <= row; column++) {
        const at = row * size + column
        spread[at] = of(spread, at) + of(second, at) - (of(first, row) * of(first, column)) / frames
      }
    }
  }
  return spread.map((value) => value / Math.max(1, count))
}

/** In frames: the weight of the usual covariance when a set has few frames. */
const prior = 5

/** `usual` counts as a few frames more. The root is Cholesky's, with a floor that keeps it real. */
export const normalOf = ({ count, first, second }: FrameSums, usual: Float64Array) => {
  const size = first.length
  const root = new Float64Array(size * size)
  let logDeterminant = 0
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      const at = row * size + column
      const own = of(second, at) - (of(first, row) * of(first, column)) / count
      let rest = (own + prior * of(usual, at)) / (count + prior)
      for (let k = 0; k < column; k++) rest -= of(root, row * size + k) * of(root, column * size + k)
      root[at] = row === column ? Math.sqrt(Math.max(rest + 1e-4, 1e-9)) : rest / of(root, column * size + column)
    }
    logDeterminant += 2 * Math.log(of(root, row * size + row))
  }
  return { mean: first.map((value) => value / count), root, logDeterminant }
}

/** The logarithm of a frame's likelihood, without the constant that all distributions share. */
export const likelihoodBy = ({ mean, root, logDeterminant }: NormalDistribution) => {
  const size = mean.length
  const away = new Float64Array(size)
  return (frame: Float32Array): number => {
    let distance = 0
    for (let row = 0; row < size; row++) {
      let rest = of(frame, row) - of(mean, row)
      for (let k = 0; k < row; k++) rest -= of(root, row * size + k) * of(away, k)
      away[row] = rest / of(root, row * size + row)
      distance += of(away, row) ** 2
    }
    return -(distance + logDeterminant) / 2
  }
}
