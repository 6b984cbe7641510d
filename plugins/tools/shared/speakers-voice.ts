import { fourierTransform, transformWidth } from './speakers-fourier.ts'

/** In samples per second; frames, bands and pitches all rest on it. */
const rate = 16_000

/** In samples: the distance between frames, 16 ms. */
export const frameSize = 256

/** The numbers of a frame: the shape of the spectrum, and then the logarithm of the pitch, 0 without a voice. */
export const frameWidth = 17
const shapes = frameWidth - 1

/** In samples: the length of sound in a frame. */
const seen = 512

/** From 0 to 1: a frame whose sound repeats less than this has no voice. */
const leastVoiced = 0.45

/** In Hz: the range of voices, and the bands of the spectrum on the mel scale. */
const pitches = { low: 70, high: 400 }
const bands = { low: 90, high: 7_600, count: 28 }

/**
 * The sound of a voice per frame: mel cepstrum without loudness, and pitch. Only frames that are `wanted` and voiced
 * are filled, since vowels separate speakers and other sounds separate words.
 */
export const voiceFrames = (samples: Float32Array, wanted: (frame: number) => boolean): Float32Array => {
  const frames = new Float32Array(Math.ceil(samples.length / frameSize) * frameWidth)
  const real = new Float64Array(transformWidth)
  const imaginary = new Float64Array(transformWidth)
  for (let frame = 0; frame * frameWidth < frames.length; frame++) {
    if (!wanted(frame)) continue
    real.fill(0)
    imaginary.fill(0)
    const from = frame * frameSize
    for (let at = 0; at < seen && from + at < samples.length; at++)
      real[at] = (samples[from + at] ?? 0) * (fade[at] ?? 0)
    fourierTransform(real, imaginary)
    toPower(real, imaginary)
    const shape = shapeOf(real)
    fourierTransform(real, imaginary)
    const pitch = pitchOf(real)
    if (pitch === null) continue
    frames.set(shape, frame * frameWidth)
    frames[frame * frameWidth + shapes] = Math.log(pitch)
  }
  return frames
}

/** The power spectrum, whose transform is the autocorrelation (Wiener and Khinchin). */
const toPower = (real: Float64Array, imaginary: Float64Array): void => {
  for (let at = 0; at < transformWidth; at++) {
    real[at] = (real[at] ?? 0) ** 2 + (imaginary[at] ?? 0) ** 2
    imaginary[at] = 0
  }
}

/** A Hamming window: hard ends of a frame would add frequencies that the voice does not have. */
const fade = Float64Array.from({ length: seen }, (_, at) => 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (seen - 1)))

/** The remaining correlation of a perfectly periodic sound at each lag, after both ends are faded. */
const left = (() => {
  const real = new Float64Array(transformWidth)
  const imaginary = new Float64Array(transformWidth)
  real.set(fade)
  fourierTransform(real, imaginary)
  toPower(real, imaginary)
  fourierTransform(real, imaginary)
  return real.map((value) => value / (real[0] ?? 1))
})()

/** The first strong peak of the autocorrelation, in Hz; null when the sound does not repeat. */
const pitchOf = (correlation: Float64Array): number | null => {
  const whole = (correlation[0] ?? 0) + 1e-9
  let best = 0
  let found = 0
  for (let lag = Math.floor(rate / pitches.high); lag <= Math.ceil(rate / pitches.low); lag++) {
    const here = correlation[lag] ?? 0
    if (here < (correlation[lag - 1] ?? 0) || here < (correlation[lag + 1] ?? 0)) continue
    // Twice the lag repeats as well, so a longer lag must be clearly better.
    const height = here / whole / (left[lag] ?? 1)
    const better = height > best * (found > 0 && lag > 1.6 * found ? 1.1 : 1)
    if (!better) continue
    best = height
    found = lag
  }
  return best >= leastVoiced ? rate / found : null
}

/** The mel scale in O'Shaughnessy's form. */
const mel = (hertz: number): number => 1127 * Math.log(1 + hertz / 700)
const hertz = (mel: number): number => 700 * (Math.exp(mel / 1127) - 1)

/** For each band, its part of the spectrum with triangular weights. */
const filters = (() => {
  const { low, high, count } = bands
  const apart = (mel(high) - mel(low)) / (count + 1)
  const edge = (index: number) => (hertz(mel(low) + index * apart) * transformWidth) / rate
  return Array.from({ length: count }, (_, band) => {
    const [start, middle, end] = [edge(band), edge(band + 1), edge(band + 2)]
    const first = Math.ceil(start)
    const weights = Array.from({ length: Math.ceil(end) - first }, (_, index) => {
      const at = first + index
      return at < middle ? (at - start) / (middle - start) : (end - at) / (end - middle)
    })
    return { first, weights }
  })
})()

/** The cosine transform of the bands, without its first number, which is loudness alone. */
const waves = Array.from({ length: shapes }, (_, shape) =>
  Float64Array.from(
    { length: bands.count },
    (_, band) => Math.sqrt(2 / bands.count) * Math.cos((Math.PI * (shape + 1) * (band + 0.5)) / bands.count),
  ),
)

const shapeOf = (power: Float64Array): readonly number[] => {
  const loudness = filters.map(({ first, weights }) =>
    Math.log(weights.reduce((sum, weight, index) => sum + weight * (power[first + index] ?? 0), 1e-7)),
  )
  return waves.map((wave) => loudness.reduce((sum, value, band) => sum + value * (wave[band] ?? 0), 0))
}
