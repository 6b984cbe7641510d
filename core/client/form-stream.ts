import { utf8 } from '../wire/bytes.ts'

/** A form with one large part, made as it is read: its length is known beforehand and nothing of it is held. */
export interface FormStream {
  readonly type: string
  readonly size: number
  parts(): AsyncGenerator<Uint8Array>
}

export const formStream = (
  fields: Readonly<Record<string, string>>,
  big: { readonly name: string; readonly size: number; open(): AsyncIterable<Uint8Array> },
  boundary: string,
): FormStream => {
  const part = (name: string, more = '') => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n`
  const texts = Object.entries(fields).map(([name, value]) => `${part(name)}\r\n${value}\r\n`)
  const head = utf8(
    `${texts.join('')}${part(big.name, '; filename="sealed"')}content-type: application/octet-stream\r\n\r\n`,
  )
  const tail = utf8(`\r\n--${boundary}--\r\n`)
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    size: head.length + big.size + tail.length,
    async *parts() {
      yield head
      yield* big.open()
      yield tail
    },
  }
}
