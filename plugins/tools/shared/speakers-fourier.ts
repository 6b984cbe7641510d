/** The number of samples in one transform. */
export const transformWidth = 1024

const turns = Array.from({ length: transformWidth / 2 }, (_, at) => (2 * Math.PI * at) / transformWidth)
const cosines = Float64Array.from(turns, Math.cos)
const sines = Float64Array.from(turns, Math.sin)
const digits = Math.log2(transformWidth)
/** Places with their binary digits in reverse order, where the transform begins (Cooley and Tukey). */
const mirrored = Uint16Array.from({ length: transformWidth }, (_, at) => {
  let mirror = 0
  for (let digit = 0; digit < digits; digit++) mirror |= ((at >> digit) & 1) << (digits - 1 - digit)
  return mirror
})

/** The Fourier transform of complex numbers, in place. */
export const fourierTransform = (real: Float64Array, imaginary: Float64Array): void => {
  for (let at = 0; at < transformWidth; at++) {
    const to = mirrored[at] ?? 0
    if (to <= at) continue
    swap(real, at, to)
    swap(imaginary, at, to)
  }
  for (let half = 1; half < transformWidth; half *= 2) {
    const stride = transformWidth / (2 * half)
    for (let start = 0; start < transformWidth; start += 2 * half) {
      for (let k = 0; k < half; k++) {
        const one = start + k
        const other = one + half
        const cosine = cosines[k * stride] ?? 0
        const sine = sines[k * stride] ?? 0
        const [oneReal, oneImaginary] = [real[one] ?? 0, imaginary[one] ?? 0]
        const [otherReal, otherImaginary] = [real[other] ?? 0, imaginary[other] ?? 0]
        const turnedReal = otherReal * cosine + otherImaginary * sine
        const turnedImaginary = otherImaginary * cosine - otherReal * sine
        real[other] = oneReal - turnedReal
        imaginary[other] = oneImaginary - turnedImaginary
        real[one] = oneReal + turnedReal
        imaginary[one] = oneImaginary + turnedImaginary
      }
    }
  }
}

const swap = (numbers: Float64Array, one: number, other: number): void => {
  const kept = numbers[one] ?? 0
  numbers[one] = numbers[other] ?? 0
  numbers[other] = kept
}
