import type { MediaFile } from '../../../core/ports/media.ts'

/** A file of a form, with the name that the backend sees. */
export type FormFile = MediaFile

export type FormField = readonly [name: string, value: string]

/** `type` is the content type with the boundary. */
interface Form {
  readonly type: string
  readonly body: Uint8Array
}

/** A multipart body with one file in it. */
export const form = (fields: readonly FormField[], file: FormFile): Form => formOf(fields, [{ ...file, field: 'file' }])

/** A multipart body. Its boundary is the first of a row that does not stand in a file or a field. */
export const formOf = (
  fields: readonly FormField[],
  files: readonly (FormFile & { readonly field: string })[],
): Form => {
  const contents = files.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  let boundary = 'form-boundary-0'
  const isTaken = () =>
    contents.some((bytes) => bytes.includes(boundary)) || fields.some(([, value]) => value.includes(boundary))
  for (let n = 1; isTaken(); n++) boundary = `form-boundary-${n}`
  const head = (name: string, more: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${quote(name)}"${more}\r\n\r\n`
  const texts = fields.map(([name, value]) => `${head(name, '')}${value}\r\n`).join('')
  const parts = files.flatMap(({ field, name, mime }, at) => {
    const labels = `; filename="${quote(name)}"\r\ncontent-type: ${mime.replace(/[^\w!#$&^.+/;= -]/g, '')}`
    return [Buffer.from(head(field, labels)), contents[at]!, Buffer.from('\r\n')]
  })
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(texts), ...parts, Buffer.from(`--${boundary}--\r\n`)]),
  }
}

/** Quotes and line ends are escaped, so that no name adds a header. */
const quote = (text: string): string => text.replace(/["\r\n]/g, encodeURIComponent)
