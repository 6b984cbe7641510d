import { Writable } from 'node:stream'
import type Koa from 'koa'
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

interface Incoming {
  readonly originalFilename: string | null
  readonly mimetype: string | null
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
        const gathered = gatheredBytes()
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
  try {
    await Promise.race([parse(ctx, async () => {}), intake.counted()])
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw (cause as { status?: number }).status === 413 ? oversized() : new BadRequest('Malformed form', { cause })
  }
  const request = ctx.request as unknown as { body?: Record<string, unknown>; files?: Record<string, unknown> }
  const every = new Map(
    Object.entries(request.files ?? {}).map(([name, value]) => [
      name,
      [value].flat().map((sent): FormFile => {
        const file = sent as Incoming
        const bytes = (kept.get(file) ?? gatheredBytes()).whole()
        return { name: file.originalFilename ?? '', mime: file.mimetype ?? 'application/octet-stream', bytes }
      }),
    ]),
  )
  return {
    fields: new Map(Object.entries(request.body ?? {}).map(([name, value]) => [name, [value].flat().map(String)])),
    files: new Map([...every].flatMap(([name, [first]]) => (first === undefined ? [] : [[name, first]]))),
    every,
  }
}
