import type { Pixels } from '../../shared/pictures/raster-image.ts'

export interface Facts {
  /** Decided by the share of even colour. `drawing` stands for all images from a screen or printer. */
  readonly kind: 'photo' | 'drawing' | 'unclear'
  /** From 0, black, to 1, white. */
  readonly brightness: number
  /** The most frequent colours first, with their share from 0 to 1. Colours below a tenth are left out. */
  readonly colours: readonly { readonly name: string; readonly share: number }[]
}

/** The facts that the pixels alone show. */
export const factsOf = ({ width, height, bytes }: Pixels): Facts => {
  const counts = new Map<string, number>()
  let light = 0
  let even = 0
  for (let row = 0, at = 0; row < height; row++) {
    for (let column = 0; column < width; column++, at += 3) {
      const [red, green, blue] = [bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0]
      const name = nameOf(red, green, blue)
      counts.set(name, (counts.get(name) ?? 0) + 1)
      light += 0.299 * red + 0.587 * green + 0.114 * blue
      if (column > 0 && red === bytes[at - 3] && green === bytes[at - 2] && blue === bytes[at - 1]) even++
    }
  }
  const area = width * height
  const colours = [...counts]
    .map(([name, count]) => ({ name, share: rounded(count / area) }))
    .filter(({ share }) => share >= 0.1)
    .sort((a, b) => b.share - a.share)
  return { kind: kindOf(even / area), brightness: rounded(light / area / 255), colours: colours.slice(0, 4) }
}

/** Even colour from pixel to pixel is rare in photos: sensors have noise. */
const kindOf = (even: number): Facts['kind'] => (even > 0.65 ? 'drawing' : even < 0.5 ? 'photo' : 'unclear')

const rounded = (part: number): number => Math.round(part * 100) / 100

/** In degrees of hue: the upper limit of each colour's name. */
const hues = [
  [15, 'red'],
  [42, 'orange'],
  [68, 'yellow'],
  [165, 'green'],
  [195, 'turquoise'],
  [255, 'blue'],
  [290, 'purple'],
  [345, 'pink'],
  [360, 'red'],
] as const

/** Dark and pale colours have no hue that a person would name. */
const nameOf = (red: number, green: number, blue: number): string => {
  const most = Math.max(red, green, blue)
  const range = most - Math.min(red, green, blue)
  if (most < 45) return 'black'
  if (range < 28 || range / most < 0.14) return most > 215 ? 'white' : 'grey'
  const hue = hueOf(red, green, blue, most, range)
  const name = hues.find(([end]) => hue <= end)?.[1] ?? 'red'
  const earthy = hue > 8 && hue <= 42 && (most < 200 || range / most < 0.6)
  return earthy ? 'brown' : name
}

/** Degrees from 0 to 360, red at both ends, as in HSV. */
const hueOf = (red: number, green: number, blue: number, most: number, range: number): number => {
  if (most === red) return (((green - blue) / range) * 60 + 360) % 360
  if (most === green) return ((blue - red) / range) * 60 + 120
  return ((red - green) / range) * 60 + 240
}
