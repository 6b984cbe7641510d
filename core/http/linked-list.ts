/** An entry of at most one list. */
export interface Linked<T> {
  before: T | null
  behind: T | null
}

/**
 * A linked list in the order of insertion. A Set rehashes while entries come and go, and its old tables keep removed
 * entries alive: on Node 20 an entry costs twice the CPU there, and each request has several.
 */
export interface LinkedList<T> {
  first: T | null
  last: T | null
  length: number
}

/** An empty list. Entries bring their own places, so an insertion makes no object. */
export const linkedList = <T>(): LinkedList<T> => ({ first: null, last: null, length: 0 })

/** Puts an entry at the end. The entry must be in no list at that time. */
export const append = <T extends Linked<T>>(row: LinkedList<T>, node: T): void => {
  node.before = row.last
  if (row.last === null) row.first = node
  else row.last.behind = node
  row.last = node
  row.length++
}

/** False for one who has left already. */
export const unlink = <T extends Linked<T>>(row: LinkedList<T>, node: T): boolean => {
  if (node.before === null && row.first !== node) return false
  if (node.before === null) row.first = node.behind
  else node.before.behind = node.behind
  if (node.behind === null) row.last = node.before
  else node.behind.before = node.before
  node.before = node.behind = null
  row.length--
  return true
}
