import { Readable, Writable } from 'node:stream'
import type Koa from 'koa'
import type { Pace } from '../dialects/loop-time.ts'
import { BadRequest, GatewayError } from '../errors.ts'
import { type GatheredBytes, gatheredBytes } from '../gathered-bytes.ts'
import type { Intake } from './body-intake.ts'

/** A multipart form: its fields, and its files in memory, since nothing a caller sends may touch a disk. */
export interface Form {
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly files: ReadonlyMap<string, FormFile>
  /** All files of a name, of which `files` has the first. */
  readonly every: ReadonlyMap<string, readonly FormFile[]>
}

/** One file of a form. Name and type are the sender's words and prove nothing. */
export interface FormFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/**
 * Reads a form of at most `most` bytes. Throws BadRequest for another or a broken form, and `oversized` for a
 * large one.
 */
export const readForm = async (
  ctx: Koa.Context,
  most: number,
  oversized: () => Error,
  intake: Intake,
  pace: Pace,
): Promise<Form> => {
  if (!ctx.is('multipart')) throw new BadRequest('The body must be multipart/form-data')
  const { koaBody } = await import('koa-body')
  const kept = new Map<unknown, GatheredBytes>()
  const parse = koaBody({
    multipart: true,
    json: false,
    text: false,
    urlencoded: false,
    formidable: {
      maxFileSize: most,
      maxTotalFileSize: most,
      maxFieldsSize: Math.min(most, 1024 * 1024),
      maxFields: 100,
      maxFiles: 17,
      hashAlgorithm: false,
      fileWriteStreamHandler: (file) => {
        // Most of a form is its first file, whose bytes then need no copy at the end.
        const gathered = gatheredBytes(kept.size === 0 ? Number(ctx.req.headers['content-length']) || null : null)
        kept.set(file, gathered)
        return new Writable({
          write(part: Buffer, _, done) {
            gathered.add(part)
            done()
          },
        })
      },
    },
  })
  const source = Readable.from(slicesOf(intake.pieces(true), pace), { objectMode: false, highWaterMark: 1 })
  const req = Object.assign(source, { headers: ctx.req.headers })
  try {
    await parse(Object.create(ctx, { req: { value: req } }) as Koa.Context, async () => {})
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw (cause as { httpCode?: number }).httpCode === 413 ? oversized() : new BadRequest('Malformed form', { cause })
  } finally {
    source.destroy()
  }
  return formIn(ctx, kept)
}

/** What the parser found. */
const formIn = (ctx: Koa.Context, kept: ReadonlyMap<unknown, GatheredBytes>): Form => {
  const request = ctx.request as unknown as { body?: Record<string, unknown>; files?: Record<string, unknown> }
  const every = new Map(
    Object.entries(request.files ?? {}).map(([name, value]) => [
      name,
      [value].flat().map((sent): FormFile => {
        const { originalFilename: name, mimetype: mime } = sent as Readonly<Record<string, string | null>>
        const bytes = (kept.get(sent) ?? gatheredBytes()).whole()
        return { name: name ?? '', mime: mime ?? 'application/octet-stream', bytes }
      }),
    ]),
  )
  return {
    fields: new Map(Object.entries(request.body ?? {}).map(([name, value]) => [name, [value].flat().map(String)])),
    files: new Map([...every].flatMap(([name, [first]]) => (first === undefined ? [] : [[name, first]]))),
    every,
  }
}

/** The parser of forms takes two steps for a line break that begins no boundary. */
const lineBreak = 0x0d
/** So many are parsed at once. */
const breaksAtOnce = 512
/** Nanoseconds that the parser takes for a byte and for a line break. */
const [byteNs, breakNs] = [5, 1_500]

/** The body in slices whose parsing is booked to the caller, and none of which takes much longer than a millisecond. */
async function* slicesOf(pieces: AsyncIterable<Buffer>, pace: Pace): AsyncGenerator<Buffer> {
  for await (const piece of pieces)
    for (let from = 0; from < piece.length;) {
      const { end, breaks } = sliceOf(piece, from)
      await pace.spend(byteNs * (end - from) + breakNs * breaks)
      yield piece.subarray(from, end)
      from = end
    }
}

/** Where a slice ends that begins here, and the line breaks in the slice. */
const sliceOf = (piece: Buffer, from: number): { readonly end: number; readonly breaks: number } => {
  for (let breaks = 0, at = from; ; breaks++) {
    const found = piece.indexOf(lineBreak, at)
    if (found < 0) return { end: piece.length, breaks }
    if (breaks === breaksAtOnce) return { end: found, breaks }
    at = found + 1
  }
}
