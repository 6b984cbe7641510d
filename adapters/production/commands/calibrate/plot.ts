import type { Bin } from '../../../../plugins/surfaces/console/browser/figures.ts'

const [size, margin] = [400, 50]
const side = size - 2 * margin
const grey = '#8a8a8a'
const blue = '#1f5fbf'

/** In SVG, y grows downwards, and the drawing's share grows upwards. */
const xOf = (share: number): string => (margin + share * side).toFixed(1)
const yOf = (share: number): string => (size - margin - share * side).toFixed(1)

/** The area of a dot grows with the share of answers in its bin. */
const curve = (bins: readonly Bin[], colour: string): string => {
  const points = bins.map(({ claimed, right }) => `${xOf(claimed)},${yOf(right)}`).join(' ')
  const dots = bins.map(
    ({ claimed, right, share }) =>
      `<circle cx="${xOf(claimed)}" cy="${yOf(right)}" r="${(2 + 10 * Math.sqrt(share)).toFixed(1)}" fill="${colour}" fill-opacity="0.6"/>`,
  )
  return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="1.5"/>${dots.join('')}`
}

const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
  `<text x="${xOf(share)}" y="${size - margin + 18}" text-anchor="middle">${share}</text>`,
  `<text x="${margin - 8}" y="${yOf(share)}" dy="4" text-anchor="end">${share}</text>`,
])

/** A drawing of how often answers are right against what they claim; no word of it comes from a case. */
export const plotOf = (before: readonly Bin[], after: readonly Bin[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" role="img" font-family="sans-serif" font-size="12">`,
    '<title>How often answers are right against their greatest probability, on the held-out half</title>',
    `<rect width="${size}" height="${size}" fill="#fff"/>`,
    `<rect x="${margin}" y="${margin}" width="${side}" height="${side}" fill="none" stroke="#000"/>`,
    `<line x1="${xOf(0)}" y1="${yOf(0)}" x2="${xOf(1)}" y2="${yOf(1)}" stroke="#000" stroke-dasharray="4 4"/>`,
    ...ticks,
    curve(before, grey),
    curve(after, blue),
    `<text x="${margin}" y="${margin - 26}" fill="${grey}">before</text>`,
    `<text x="${margin + 60}" y="${margin - 26}" fill="${blue}">calibrated</text>`,
    `<text x="${size / 2}" y="${size - 12}" text-anchor="middle">greatest probability</text>`,
    `<text transform="translate(14 ${size / 2}) rotate(-90)" text-anchor="middle">share that is right</text>`,
    '</svg>\n',
  ].join('\n')
