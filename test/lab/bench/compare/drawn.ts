import type { Row } from './run.ts'

const wide = 420
const high = 26

/** Bars of CPU a request, the longest as wide as the picture allows. */
export const drawn = (rows: readonly Row[]): string => {
  const most = Math.max(...rows.map(({ request }) => request))
  const bars = rows.map(({ name, request }, at) => {
    const y = 40 + at * high
    const width = Math.max(2, (request / most) * wide)
    const own = name === 'sealgate'
    return (
      `<text x="110" y="${y + 14}" text-anchor="end">${name}</text>` +
      `<rect x="120" y="${y}" width="${width.toFixed(1)}" height="18" rx="2" fill="${own ? '#0a6b2d' : '#9aa5b1'}"/>` +
      `<text x="${(126 + width).toFixed(1)}" y="${y + 14}">${request.toFixed(0)} µs</text>`
    )
  })
  const height = 56 + rows.length * high
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#24292f">` +
    `<title>CPU of a chat request, by gateway</title><rect width="640" height="${height}" fill="#fff"/>` +
    `<text x="120" y="24" font-weight="600">CPU of a chat request; less is better</text>${bars.join('')}</svg>\n`
  )
}
