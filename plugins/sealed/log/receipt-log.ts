import { one } from '../../../core/container.ts'
import { Unavailable } from '../../../core/errors.ts'
import { lazy, plugin } from '../../../core/plugin.ts'
import { Enclave, type SealedReply } from '../../../core/ports/enclave.ts'
import { MetadataStore, kind } from '../../../core/ports/metadata-store.ts'
import { type Alarm, Clock, Log, Random } from '../../../core/ports/platform.ts'
import { fromHex, toHex } from '../wire/bytes.ts'
import type { Place } from '../wire/tree.ts'
import { type ReceiptTrailer, type SignedHead, type SignerKeyset, logSignerOf } from '../log-signer.ts'

/** A receipt, by the hash of its text. */
interface ReceiptRow {
  readonly organization: string
  /** In Unix ms. */
  readonly at: number
  readonly state: 'waiting' | 'entered'
  /** The place in the log; null while the receipt waits. */
  readonly index: number | null
}

const receiptRows = kind<ReceiptRow>('receipt', [['state', 'at']])

/** The log as it was signed last, and the process that may write it. */
interface LogRow {
  readonly log: string
  readonly size: number
  readonly head: SignedHead | null
  /** In Unix ms: when the head was signed. */
  readonly signed: number
  /** The process that writes; null when none does. */
  readonly holder: string | null
  /** In Unix ms: the end of the holder's turn, in case it died. */
  readonly until: number
}

const logRows = kind<LogRow>('receipt_log')
/** The id of the only row: a store has one log. */
const logId = 'log'

/** The place of a receipt, with the head under which it holds. */
export interface Proof extends Place {
  readonly head: SignedHead
}

/** A log of the receipts that the enclave gave, in which none can be changed or left out later. */
export interface ReceiptLog {
  /** Enters the receipt of an answer, when the answer has one. */
  enter(organization: string, reply: SealedReply): void
  /** Null before the first receipt. */
  head(): Promise<SignedHead | null>
  /** Null for a receipt that waits, and 'unknown' for a receipt of nobody or of another organisation. */
  proof(organization: string, receipt: string): Promise<Proof | null | 'unknown'>
  /**
   * Nodes that lead from one size to the size of the head; none for a size that the log never had. The head is null when
   * the log is empty. Who knows a larger log sees by the signed head that this one does not continue it.
   */
  continued(from: number): Promise<{ readonly path: readonly string[]; readonly head: SignedHead | null }>
  /** Resolves when nothing is under way any more. */
  dispose(): Promise<void>
}

/** A gateway whose enclave signs no heads keeps an empty log. */
export const ReceiptLog = one<ReceiptLog>('ReceiptLog')

/** The hashes load with the first receipt, since most gateways give none. */
const hashing = lazy(() => Promise.all([import('./tiles.ts'), import('./log-tree.ts'), import('../wire/log-leaf.ts')]))

/** Ms: from a receipt to its entry, to another try of it, of one writer's turn, and of a head before it is signed anew. */
const times = { wait: 1_000, again: 5_000, turn: 30_000, head: 3_600_000 }

/** Receipts that one turn enters. */
const mostAtOnce = 1_000

/** Tries of a receipt at the store, with the first one. */
const mostEntries = 120

/** How often an enclave that signed another size is asked again: once for each enclave is enough. */
const tries = 4

/** In hex. */
const printed = (nodes: readonly Uint8Array[]): readonly string[] => nodes.map(toHex)

/** A receipt is entered a second later, in a batch, so that no answer waits for the log. */
export const receiptLog = plugin({
  port: ReceiptLog,
  name: 'receipt-log',
  renewed: true,
  needs: { enclave: Enclave, rows: MetadataStore, clock: Clock, random: Random, log: Log },
  create: ({ enclave, rows, clock, random, log }): ReceiptLog => {
    const own = toHex(random.bytes(8))
    const signer = logSignerOf(enclave)
    const growing = lazy(async () => {
      const [{ tilesIn }, { logTree }, { logLeaf }] = await hashing()
      const tiles = tilesIn(rows)
      return { tiles, tree: logTree(tiles.whole), logLeaf }
    })
    const entering = new Set<Promise<unknown>>()
    let turning: Promise<void> | null = null
    const closing = new AbortController()

    const known = async (): Promise<LogRow> => {
      const found = await rows.get(logRows, logId)
      if (found !== null) return found
      const first = { log: toHex(random.bytes(16)), size: 0, head: null, signed: 0, holder: null, until: 0 }
      await rows.create(logRows, logId, first)
      return (await rows.get(logRows, logId)) ?? first
    }

    /** A turn of another process as its row tells the end, and the latest end by this clock: the other may run fast. */
    let other = { until: 0, latest: 0 }

    /** The log with this process as its only writer; null while another process writes. */
    const claimed = async (): Promise<LogRow | null> => {
      const { holder, until } = await known()
      if (until !== other.until) other = { until, latest: clock.now() + times.turn }
      if (Math.min(until, other.latest) > clock.now() && holder !== own) return null
      return rows.update(logRows, logId, { holder: own, until: clock.now() + times.turn }, { holder, until })
    }

    const signed = async (name: string, size: number): Promise<SignedHead> => {
      const { tree } = await growing()
      const root = toHex(await tree.root(size))
      let from = 0
      for (let left = tries; left > 0; left--) {
        const path = printed(await tree.continued(from, size))
        const answer = await signer?.signHead({ log: name, size, root, from, path })
        if (answer === undefined) break
        if (!('behind' in answer)) return answer
        // The enclave signed a size that this log never had.
        if (answer.behind > size) break
        from = answer.behind
      }
      throw new Unavailable()
    }

    /** The head that was checked last, and the keyset that it was checked with. */
    let checked: { readonly text: string; readonly keyset: string; readonly holds: boolean } | null = null

    /** False when the keys that signed the head are gone with their enclave: a client could not check it. */
    const isOfLivingKeys = async (head: SignedHead): Promise<boolean> => {
      // An enclave that is gone has no keys.
      const current: SignerKeyset | null = await enclave.keys(head.enclave).catch(() => null)
      if (current === null) return false
      const { keyset, receipt_keys: keys = [] } = current
      if (checked?.text === head.text && checked.keyset === keyset) return checked.holds
      const { openHead } = await import('../wire/log.ts')
      checked = { text: head.text, keyset, holds: keys.some((pair) => openHead(head, pair) !== null) }
      return checked.holds
    }

    const turn = async (): Promise<void> => {
      const { rows: waiting } = await rows.list(receiptRows, {
        where: { state: 'waiting' },
        order: { by: 'at' },
        limit: mostAtOnce,
        countTo: mostAtOnce,
      })
      const isOld = async () => {
        const seen = await rows.get(logRows, logId)
        if (seen?.head == null) return false
        return clock.now() - seen.signed >= times.head || !(await isOfLivingKeys(seen.head))
      }
      if (waiting.length === 0 && !(await isOld())) return
      const held = await claimed()
      if (held === null) return soon(times.turn)
      const { log: name, size } = held
      const { tiles, logLeaf } = await growing()
      const leaves = waiting.map(({ id }) => toHex(logLeaf(fromHex(id, 32)!)))
      // An enclave that signed them signs no other order.
      const all = [...new Set([...(await tiles.behind(size)), ...leaves])]
      const places = new Map(all.map((leaf, at) => [leaf, size + at]))
      const nodes = all.map((leaf) => fromHex(leaf, 32)!)
      await tiles.append(size, nodes)
      const now = size + all.length
      const head = await signed(name, now)
      const change = { size: now, head, signed: clock.now(), holder: null, until: 0 }
      const written = await rows.update(logRows, logId, change, { holder: own, until: held.until, size })
      if (written === null) throw new Unavailable()
      // A process that is killed here leaves receipts that wait: they get a second place, which proves as much.
      for (const [at, { id }] of waiting.entries())
        await rows.update(receiptRows, id, { state: 'entered', index: places.get(leaves[at]!)! })
      if (waiting.length === mostAtOnce) soon(times.wait)
    }

    let alarm: Alarm | null = null
    let due = Infinity

    const ring = (): void => {
      due = Infinity
      if (turning !== null) return soon(times.wait)
      turning = turn()
        .catch((cause: unknown) => {
          log.error('receipts.waiting', {}, cause)
          soon(times.turn)
        })
        .finally(() => {
          turning = null
          soon(times.head)
        })
    }

    /** A turn after `ms`, unless one comes earlier. */
    const soon = (ms: number): void => {
      if (closing.signal.aborted || signer === null || due <= clock.now() + ms) return
      alarm?.off()
      due = clock.now() + ms
      alarm = clock.alarm(ms, ring)
    }
    soon(times.turn)

    /** The log with a head that clients can check: one of an enclave that is gone is signed anew first. */
    const standing = async (): Promise<LogRow | null> => {
      const found = await rows.get(logRows, logId)
      if (found?.head == null || signer === null || (await isOfLivingKeys(found.head))) return found
      await turning
      if (turning === null) ring()
      await turning
      return rows.get(logRows, logId)
    }

    let pausing: Promise<void> | null = null
    /** All receipts share one pause: Node reports many listeners on one signal as a leak. */
    const pause = (): Promise<void> =>
      (pausing ??= clock
        .sleep(times.again, closing.signal)
        .catch(() => undefined)
        .finally(() => (pausing = null)))

    /** A store that is away is tried for ten minutes, and a last time when the gateway closes. */
    const enter = async (organization: string, receipt: string): Promise<void> => {
      const row = { organization, at: clock.now(), state: 'waiting', index: null } as const
      for (let left = mostEntries; ; left--) {
        try {
          await rows.create(receiptRows, receipt, row)
          return soon(times.wait)
        } catch (cause) {
          if (left <= 1 || closing.signal.aborted) throw cause
          await pause()
        }
      }
    }

    const entered = (work: Promise<void>): void => {
      const done = work.catch((cause: unknown) => log.error('receipts.lost', {}, cause))
      entering.add(done)
      void done.finally(() => entering.delete(done))
    }

    return {
      enter(organization, reply) {
        if (signer === null) return
        const trailer: Promise<ReceiptTrailer> = Promise.resolve(reply.trailer)
        // The end of a stream that nobody reads is never told, so a closing gateway does not wait for it.
        void trailer.then(({ receipt }) => receipt !== undefined && entered(enter(organization, receipt)))
      },
      head: async () => (await standing())?.head ?? null,
      async proof(organization, receipt) {
        const row = await rows.get(receiptRows, receipt)
        if (row?.organization !== organization) return 'unknown'
        const now = await standing()
        if (row.index === null || now?.head == null || now.size <= row.index) return null
        const { size, head } = now
        const { tree } = await growing()
        return { index: row.index, size, path: printed(await tree.place(row.index, size)), head }
      },
      async continued(from) {
        const now = await standing()
        if (now?.head == null || from > now.size) return { path: [], head: now?.head ?? null }
        const { tree } = await growing()
        return { path: printed(await tree.continued(from, now.size)), head: now.head }
      },
      async dispose() {
        closing.abort()
        alarm?.off()
        await Promise.all([...entering])
        await turning
      },
    }
  },
})
