import { concat, same, utf8, fromHex } from './bytes.ts'
import { logLeaf } from './log-leaf.ts'
import { type Pair, holds } from './signature.ts'
import { type Place, nodeOf, rootFrom } from './tree.ts'

/** The state of a log of receipts at one moment. Digests are hex; times are ms of the host's clock. */
export interface HeadFacts {
  readonly v: 1
  /** The name of the log: 32 hex. */
  readonly log: string
  /** Receipts in the log, and the root over them. */
  readonly size: number
  readonly root: string
  /** The size that the signing enclave signed before; null for its first head. */
  readonly after: number | null
  /** The epoch whose keys signed the head, in Unix seconds. */
  readonly epoch: number
  readonly at: number
}

/** The facts as the text that was signed, and both signatures, hex. */
export interface Head extends Pair {
  readonly text: string
}

/** A size of a log with its root. */
export interface LogState {
  readonly size: number
  readonly root: string
}

/** In characters: a head is short, so a longer text is refused before its signatures are checked. */
const mostText = 1024

/** What both keys sign. */
export const headSigned = (text: string): Uint8Array => concat(utf8('rvenc-log-head/1\0'), utf8(text))

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isDigest = (value: unknown): value is string => typeof value === 'string' && fromHex(value, 32)?.length === 32

/** The facts of a head whose signatures hold; null for anything else. */
export const openHead = (head: Head, keys: Pair): HeadFacts | null => {
  const { text, ed25519, ml_dsa_65 } = head
  if ([text, ed25519, ml_dsa_65].some((text) => typeof text !== 'string') || text.length > mostText) return null
  if (!holds(head, headSigned(text), keys)) return null
  const facts = JSON.parse(text) as HeadFacts
  return facts.v === 1 && isCount(facts.size) && isDigest(facts.root) ? facts : null
}

/** True when a receipt with this leaf stands at this place under this head. */
export const isInLog = (receiptLeaf: Uint8Array, place: Place, { size, root }: LogState): boolean => {
  if (place.size !== size) return false
  const found = rootFrom(logLeaf(receiptLeaf), place)
  return found !== null && same(found, fromHex(root, 32) ?? new Uint8Array())
}

/** Longer paths belong to no log. */
const mostPath = 62

const nodesOf = (path: readonly unknown[]): readonly Uint8Array[] | null => {
  const nodes = path.map((step) => (isDigest(step) ? fromHex(step, 32)! : null))
  return nodes.every((node) => node !== null) ? nodes : null
}

/** True when the later state has the earlier one as its beginning, by the path of RFC 9162. */
export const isContinued = (earlier: LogState, later: LogState, path: readonly unknown[]): boolean => {
  if (!Array.isArray(path) || path.length > mostPath || !isCount(earlier.size) || !isCount(later.size)) return false
  const nodes = nodesOf(path)
  const [from, to] = [fromHex(earlier.root, 32), fromHex(later.root, 32)]
  if (nodes === null || from?.length !== 32 || to?.length !== 32 || earlier.size > later.size) return false
  if (earlier.size === later.size) return nodes.length === 0 && same(from, to)
  if (earlier.size === 0) return nodes.length === 0
  return climbs(earlier.size, later.size, from, to, nodes)
}

const isPower = (count: number): boolean => Number.isInteger(Math.log2(count))

const half = (number: number): number => Math.floor(number / 2)

/** Both roots are built along one path: the earlier from its own nodes, the later from all. */
const climbs = (
  earlier: number,
  later: number,
  from: Uint8Array,
  to: Uint8Array,
  nodes: readonly Uint8Array[],
): boolean => {
  // A whole tree is a node of the later one, so the path leaves it out.
  const [first, ...rest] = isPower(earlier) ? [from, ...nodes] : nodes
  if (first === undefined) return false
  let [at, last] = [earlier - 1, later - 1]
  while (at % 2 === 1) [at, last] = [half(at), half(last)]
  let [old, now] = [first, first]
  for (const node of rest) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      old = nodeOf(node, old)
      now = nodeOf(node, now)
      while (at % 2 === 0 && at > 0) [at, last] = [half(at), half(last)]
    } else now = nodeOf(now, node)
    ;[at, last] = [half(at), half(last)]
  }
  return last === 0 && same(old, from) && same(now, to)
}
