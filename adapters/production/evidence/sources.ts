import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { boundedBody } from '../../../plugins/shared/bounded-body.ts'
import { UpstreamFailed } from '../../../core/errors.ts'
import type { Door } from '../../../core/ports/platform.ts'
import type { RawPiece, WantedPiece } from './piece.ts'

/** Fetches a piece from a service or a folder. Throws when the source lacks the piece. */
export type Source = (wanted: WantedPiece) => Promise<RawPiece>

/** In bytes: the longest answer. */
const mostBytes = 256 * 1024
/** In ms: the longest time of a whole answer. */
const patienceMs = 5_000

/** Intel percent-encodes the PEM of a chain in a header. */
const decoded = (header: string | null): string => (header === null ? '' : decodeURIComponent(header))

/** The manufacturers' services, through the door to configured hosts. */
export const serviceSource =
  (door: Door): Source =>
  async ({ url, header }) => {
    if (url === null) throw new UpstreamFailed('Nobody serves this piece')
    const answer = await door(url, { method: 'GET', signal: AbortSignal.timeout(patienceMs), patience: patienceMs })
    if (answer.status !== 200) {
      answer.discard()
      throw new UpstreamFailed('The service has no such piece')
    }
    return {
      body: await boundedBody(answer, mostBytes),
      chain: header === undefined ? '' : decoded(answer.header(header)),
    }
  }

/** A folder with the same pieces, for a gateway without egress. */
export const folderSource =
  (at: string): Source =>
  async ({ file, header }) => ({
    body: await readFile(join(at, file)),
    chain: header === undefined ? '' : await readFile(join(at, file.replace(/\.json$/, '.pem')), 'latin1'),
  })

/** In ms: the age at which a piece is fetched anew. */
const freshMs = 600_000

/** The same source, which is asked for a piece once in ten minutes. */
export const keptSource = (source: Source): Source => {
  const kept = new Map<string, { readonly piece: Promise<RawPiece>; readonly until: number }>()
  return (wanted) => {
    const found = kept.get(wanted.file)
    if (found !== undefined && performance.now() < found.until) return found.piece
    const piece = source(wanted)
    kept.set(wanted.file, { piece, until: performance.now() + freshMs })
    piece.catch(() => kept.delete(wanted.file))
    return piece
  }
}
