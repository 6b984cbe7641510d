import type { Clock, Log } from '../../../core/ports/platform.ts'
import { type MetadataStore, kind } from '../../../core/ports/metadata-store.ts'
import type { ProofObserver } from '../../../core/ports/proof-observer.ts'
import type { FindPiece } from './complete-evidence.ts'
import type { Members, Piece, WantedPiece } from './piece.ts'
import type { Source } from './sources.ts'

/** The fetched pieces. Each piece is checked again when it is read. */
const rowsOfPieces = kind<{ readonly members: Members }>('collateral')

/** In ms between two tries for one piece: while it is missing or expired, and while the stored piece is valid. */
const retryMs = { urgent: 10_000, calm: 3_600_000 }
/** The largest number of pieces in memory. */
const mostHeld = 256
/** In ms: a piece without a request for this time belongs to an enclave that is gone. */
const mostIdle = 600_000

/** A piece in memory, and what is known about the tries to get it. */
interface Place {
  readonly name: string
  piece: Piece | null
  /** The time of the last request, in ms. */
  wantedAt: number
  /** The earliest time of the next try, in ms. */
  next: number
  looking: Promise<void> | null
}

interface PieceNeeds {
  readonly clock: Clock
  readonly log: Log
  readonly rows: MetadataStore
  readonly proof: ProofObserver
}

/**
 * Certificates, lists and texts beside reports. A piece is fetched when it is missing or half of its life is over,
 * checked, and then stored. An expired piece is still served: the client decides.
 */
export const pieceStore = (needs: PieceNeeds, source: Source): FindPiece => {
  const { clock, proof } = needs
  const places = new Map<string, Place>()
  return async (wanted) => {
    const place = placeOf(places, wanted)
    place.wantedAt = clock.now()
    if (place.piece === null) better(place, await seen(wanted, wanted.given, clock))
    if (isDue(place, clock.now()))
      place.looking ??= looked(wanted, place, needs, source).finally(() => (place.looking = null))
    if (place.looking !== null && isEnded(place, clock.now())) await place.looking
    proof.collateral(wanted.name, untilOf(places, wanted.name, clock.now()))
    return place.piece?.members ?? {}
  }
}

/** Null when the piece is not genuine. */
const seen = async (wanted: WantedPiece, members: Members | null, clock: Clock): Promise<Piece | null> => {
  try {
    return members && { members, ...(await wanted.check(members, clock.now())) }
  } catch {
    return null
  }
}

/** Puts the piece in its place; false when the piece there lasts longer. */
const better = (place: Place, piece: Piece | null): boolean => {
  if (piece === null || (place.piece !== null && piece.ends < place.piece.ends)) return false
  place.piece = piece
  return true
}

const idOf = ({ name, about }: WantedPiece): string => `${name}/${about}`

/** A failure is logged and throws nothing: the piece from before stays. */
const fetched = async (wanted: WantedPiece, place: Place, needs: PieceNeeds, source: Source): Promise<void> => {
  const { clock, log, rows } = needs
  const facts = { piece: wanted.name, about: wanted.about.slice(0, 64) }
  const id = idOf(wanted)
  try {
    const members = wanted.read(await source(wanted))
    const piece = { members, ...(await wanted.check(members, clock.now())) }
    if (!better(place, piece)) return
    const kept = await rows.update(rowsOfPieces, id, { members })
    if (kept === null) await rows.create(rowsOfPieces, id, { members })
    log.info('collateral.fetched', facts)
  } catch (cause) {
    log.error('collateral.failed', facts, cause)
  }
}

/** A missing piece counts as ended, so that the first request waits for the fetch. */
const isEnded = ({ piece }: Place, now: number): boolean => piece === null || piece.taken <= now

/** Half of a piece's life leaves time for many tries before a client would refuse it. */
const isDue = ({ piece, next }: Place, now: number): boolean => {
  if (now < next) return false
  return piece === null || now >= (piece.issued + piece.ends) / 2
}

/** Reads the stored piece, and fetches another one when it is due. */
const looked = async (wanted: WantedPiece, place: Place, needs: PieceNeeds, source: Source): Promise<void> => {
  const { clock, rows } = needs
  const stored = await rows.get(rowsOfPieces, idOf(wanted)).catch(() => null)
  better(place, await seen(wanted, stored?.members ?? null, clock))
  if (isDue(place, clock.now())) await fetched(wanted, place, needs, source)
  place.next = clock.now() + (isEnded(place, clock.now()) ? retryMs.urgent : retryMs.calm)
}

/** A full store drops the place that was made first. */
const placeOf = (places: Map<string, Place>, wanted: WantedPiece): Place => {
  const id = idOf(wanted)
  const found = places.get(id)
  if (found !== undefined) return found
  const [oldest] = places.keys()
  if (places.size >= mostHeld && oldest !== undefined) places.delete(oldest)
  const made: Place = { name: wanted.name, piece: null, wantedAt: 0, next: 0, looking: null }
  places.set(id, made)
  return made
}

/** The end of the earliest piece of this name; null when one piece is missing. */
const untilOf = (places: ReadonlyMap<string, Place>, name: string, now: number): number | null => {
  const live = [...places.values()].filter((place) => place.name === name && now - place.wantedAt <= mostIdle)
  const ends = live.map(({ piece }) => piece?.taken ?? null)
  return ends.includes(null) ? null : Math.min(...(ends as number[]))
}
