import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'

const maps = new Map<string, SourceMap | null>()

/** The source map beside a compiled file; null when there is none. */
const mapOf = (file: string): SourceMap | null => {
  const known = maps.get(file)
  if (known !== undefined) return known
  let map: SourceMap | null = null
  try {
    map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  maps.set(file, map)
  return map
}

/**
 * The text with the place in the source behind each place in `dist`. The tests run without source maps, whose reading
 * takes a quarter of the time in which a file loads.
 */
export const withSources = (text: string): string =>
  text.replace(/\bdist\/([\w./-]+)\.js:(\d+):(\d+)/g, (place, name: string, line: string, column: string) => {
    const found = mapOf(`dist/${name}.js`)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (found === undefined || !('originalLine' in found)) return place
    return `${name}.ts:${found.originalLine + 1}:${found.originalColumn + 1}`
  })
