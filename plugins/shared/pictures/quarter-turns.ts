/** Quarter turns to the right. */
export type Quarters = 0 | 1 | 2 | 3

/** A grey PGM picture turned to the right by quarters. Null when a turn is needed and the picture is not PGM. */
export const turned = (picture: Uint8Array, quarters: Quarters): Uint8Array | null => {
  if (quarters === 0) return picture
  const head = /^P5\n(\d+) (\d+)\n255\n/.exec(Buffer.from(picture.subarray(0, 40)).toString('latin1'))
  if (!head) return null
  const [width, height] = [Number(head[1]), Number(head[2])]
  const [across, down] = quarters === 2 ? [width, height] : [height, width]
  const from = picture.subarray(head[0].length)
  const title = Buffer.from(`P5\n${across} ${down}\n255\n`, 'latin1')
  const whole = new Uint8Array(title.length + from.length)
  whole.set(title)
  const to = whole.subarray(title.length)
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at++) {
      const place =
        quarters === 1
          ? x * across + across - 1 - y
          : quarters === 2
            ? (down - 1 - y) * across + across - 1 - x
            : (down - 1 - x) * across + y
      to[place] = from[at] ?? 0
    }
  return whole
}
