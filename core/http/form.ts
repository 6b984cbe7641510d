import { Writable } from 'node:stream'
import type Koa from 'koa'
import { BadRequest, GatewayError } from '../errors.ts'
import type { Intake } from './body-intake.ts'

/** A multipart form: its fields, and its files in memory, since nothing a caller sends may touch a disk. */
export interface Form {
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly files: ReadonlyMap<string, FormFile>
}

export interface FormFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

interface Incoming {
  readonly originalFilename: string | null
  readonly mimetype: string | null
}

export const readForm = async (
  ctx: Koa.Context,
  most: number,
  oversized: () => Error,
  intake: Intake,
): Promise<Form> => {
  if (!ctx.is('multipart')) throw new BadRequest('The body must be multipart/form-data')
  const { formidable } = await import('formidable')
  const kept = new Map<unknown, Buffer[]>()
  const form = formidable({
    maxFileSize: most,
    maxTotalFileSize: most,
    maxFieldsSize: Math.min(most, 1024 * 1024),
    maxFields: 100,
    maxFiles: 4,
    hashAlgorithm: false,
    fileWriteStreamHandler: (file) => {
      const parts: Buffer[] = []
      kept.set(file, parts)
      return new Writable({
        write(part: Buffer, _, done) {
          parts.push(part)
          done()
        },
      })
    },
  })
  try {
    const [fields, files] = await Promise.race([form.parse(ctx.req), intake.counted()])
    return {
      fields: new Map(Object.entries(fields).map(([name, values = []]) => [name, values.map(String)])),
      files: new Map(Object.entries(files).flatMap(([name, them]) => firstOf(name, them, kept))),
    }
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw tooLong.has((cause as { code?: unknown }).code) ? oversized() : new BadRequest('Malformed form', { cause })
  }
}

/** Codes of the parser for files beyond `maxTotalFileSize` and `maxFileSize`. */
const tooLong = new Set<unknown>([1009, 1016])

type Kept = ReadonlyMap<unknown, readonly Buffer[]>

/** One file of each name counts. */
const firstOf = (name: string, [file]: readonly Incoming[] = [], kept: Kept): readonly [string, FormFile][] =>
  file === undefined ? [] : [[name, fileOf(file, kept)]]

const fileOf = (file: Incoming, kept: Kept): FormFile => ({
  name: file.originalFilename ?? '',
  mime: file.mimetype ?? 'application/octet-stream',
  bytes: Buffer.concat(kept.get(file) ?? []),
})
