import type { Fitting, Port } from '../container.ts'

/** The parts whose needs are fitted by others. A part goes with the part that it needs. */
const suppliedOf = (
  parts: readonly Fitting<unknown>[],
  others: readonly Fitting<unknown>[],
): readonly Fitting<unknown>[] => {
  const ports = new Set([...others, ...parts].map(({ port }) => port.key))
  const supplied = parts.filter(({ needs = [] }) => needs.every(({ key, many }) => many || ports.has(key)))
  return supplied.length === parts.length ? supplied : suppliedOf(supplied, others)
}

/** The supplied parts by how long they last, and whether any part fits a port of one. */
export const partsByLife = (parts: readonly Fitting<unknown>[], others: readonly Fitting<unknown>[]) => {
  const supplied = suppliedOf(parts, others)
  const ports = new Set([...supplied, ...others].map(({ port }) => port.key))
  return {
    lasting: supplied.filter((part) => part.renewed !== true),
    renewed: supplied.filter((part) => part.renewed === true),
    isFitted: ({ key }: Port<unknown>): boolean => ports.has(key),
  }
}
