/** Something that stands in a row. */
export interface Standing<T> {
  before: T | null
  behind: T | null
}

/**
 * Those who are there at the moment, in the order they came. Unlike a Set, which is laid out anew every few changes: the
 * old layouts keep what stood in them from being collected, which is dear where every request comes and goes.
 */
export interface Row<T> {
  first: T | null
  last: T | null
  length: number
}

export const row = <T>(): Row<T> => ({ first: null, last: null, length: 0 })

export const join = <T extends Standing<T>>(row: Row<T>, it: T): void => {
  it.before = row.last
  if (row.last === null) row.first = it
  else row.last.behind = it
  row.last = it
  row.length++
}

/** False for one who has left already. */
export const leave = <T extends Standing<T>>(row: Row<T>, it: T): boolean => {
  if (it.before === null && row.first !== it) return false
  if (it.before === null) row.first = it.behind
  else it.before.behind = it.behind
  if (it.behind === null) row.last = it.before
  else it.behind.before = it.before
  it.before = it.behind = null
  row.length--
  return true
}
