import type { Chart } from '../../../core/ports/file-content.ts'
import { shortened } from './beside.ts'
import { scanXml } from './markup.ts'

/** The largest number of series in a chart, and of values in a series. */
const chartLimits = { series: 100, values: 1_000 }

/** A null value is a place without a number. */
interface Series {
  name: string
  readonly categories: string[]
  readonly values: (number | null)[]
}

/** The title and the series of a chart, with the values cached in the chart. Other values are in the cells. */
export const readChart = (part: Uint8Array): Chart => {
  const series: Series[] = []
  const within: string[] = []
  let title = ''
  let reference = ''
  scanXml(part, {
    open(element) {
      within.push(element)
      if (element === 'ser' && series.length < chartLimits.series) series.push({ name: '', categories: [], values: [] })
    },
    close: () => void within.pop(),
    text(text, element) {
      const current = within.includes('ser') ? series.at(-1) : undefined
      if (element === 't' && within.includes('title') && !within.includes('catAx') && !within.includes('valAx'))
        title += text
      if (!current) return
      if (element === 'f' && within.includes('tx')) reference = text
      if (element === 'v' && within.includes('tx')) current.name += text
      else if (element === 'v' && (within.includes('cat') || within.includes('xVal'))) add(current.categories, text)
      else if (element === 'v' && (within.includes('val') || within.includes('yVal')))
        add(current.values, Number.isFinite(Number(text)) ? Number(text) : null)
      else if (element === 'f' && current.name === '') current.name = reference
    },
  })
  return {
    title: shortened(title) || null,
    series: series.map((drawn) => ({ ...drawn, name: shortened(drawn.name) || null })),
  }
}

/** Values beyond the limit are dropped. */
const add = <T>(list: T[], value: T): void => {
  if (list.length < chartLimits.values) list.push(value)
}
