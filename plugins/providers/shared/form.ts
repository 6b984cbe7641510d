export interface FormFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

/** A multipart body with one file in it. Its boundary is the first of a row that does not stand in the file or a field. */
export const form = (
  fields: readonly (readonly [name: string, value: string])[],
  file: FormFile,
): { readonly type: string; readonly body: Uint8Array } => {
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength)
  let boundary = 'form-boundary-0'
  for (let n = 1; bytes.includes(boundary) || fields.some(([, value]) => value.includes(boundary)); n++) {
    boundary = `form-boundary-${n}`
  }
  const head = (name: string, more: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${quote(name)}"${more}\r\n\r\n`
  const texts = fields.map(([name, value]) => `${head(name, '')}${value}\r\n`).join('')
  const its = `; filename="${quote(file.name)}"\r\ncontent-type: ${file.mime.replace(/[^\w!#$&^.+/;= -]/g, '')}`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(texts + head('file', its)), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  }
}

const quote = (text: string): string => text.replace(/["\r\n]/g, encodeURIComponent)
