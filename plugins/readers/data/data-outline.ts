import { typeOf } from './data-columns.ts'
import { isContainer } from '../shared/content-cutter.ts'

/** Lines and depth of the outline; keys and samples of one place; characters of a name. */
const outlineLimits = { lines: 200, depth: 8, keys: 30, samples: 100, name: 100 }

/** The structure of a value, one line per place. Only the first items of a long list count. */
export const outlineOf = (value: unknown): string => {
  const lines: string[] = []
  describe('', [value], 0, lines)
  return lines.join('\n')
}

/** Describes one place by all values that stand there. A question mark follows a key that some objects lack. */
const describe = (label: string, samples: readonly unknown[], depth: number, lines: string[]): void => {
  if (lines.length >= outlineLimits.lines) return
  const indent = '  '.repeat(depth)
  const lists = samples.filter((sample): sample is readonly unknown[] => Array.isArray(sample))
  const objects = samples.filter((sample): sample is object => isContainer(sample) && !Array.isArray(sample))
  const types = new Set(samples.map((sample) => (Array.isArray(sample) ? listOf(lists) : typeOf(sample))))
  lines.push(`${indent}${label}${[...types].join(' or ') || 'nothing'}`)
  if (depth >= outlineLimits.depth) return
  const items = lists.flatMap((list) => list.slice(0, outlineLimits.samples)).slice(0, outlineLimits.samples)
  if (items.length > 0) describe('- ', items, depth + 1, lines)
  if (objects.length === 0) return
  const keys = new Set(objects.flatMap((object) => Object.keys(object).slice(0, outlineLimits.samples)))
  for (const key of [...keys].slice(0, outlineLimits.keys)) {
    const owners = objects.filter((object) => Object.hasOwn(object, key))
    const values = owners.map((owner) => (owner as Record<string, unknown>)[key])
    const name = key.length > outlineLimits.name ? `${key.slice(0, outlineLimits.name)}…` : key
    describe(`${name}${owners.length < objects.length ? '?' : ''}: `, values, depth + 1, lines)
  }
  const all = Math.max(keys.size, ...objects.map((object) => Object.keys(object).length))
  if (all > outlineLimits.keys) lines.push(`${indent}  … ${all - outlineLimits.keys} more keys`)
}

/** Lengths of several lists at one place become a range. */
const listOf = (lists: readonly (readonly unknown[])[]): string => {
  const lengths = lists.map(({ length }) => length)
  const [least, longest] = [Math.min(...lengths), Math.max(...lengths)]
  return least === longest ? `list of ${least}` : `list of ${least} to ${longest}`
}
