import { hashing } from '#aead'
import type { Stored } from '../wire/binding.ts'
import { utf8 } from '../wire/bytes.ts'

/** A form with one large part. The form is made while it is read, so it is never held in memory. */
export interface FormStream {
  /** The value of `content-type`, with the boundary. */
  readonly type: string
  parts(): AsyncGenerator<Uint8Array>
}

type FormFields = Readonly<Record<string, string>>

/** The field of the content; the gateway stores it while it arrives. */
const big = 'encrypted_content'

/** Yields the fields, the content, and then the fields that need the content's size and hash. */
export const formStream = (
  fields: FormFields,
  content: AsyncIterable<Uint8Array>,
  behind: (stored: Stored) => Promise<FormFields>,
  boundary: string,
): FormStream => {
  const part = (name: string, more = '') => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n`
  const texts = (all: FormFields) =>
    Object.entries(all)
      .map(([name, value]) => `${part(name)}\r\n${value}\r\n`)
      .join('')
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    async *parts() {
      yield utf8(`${texts(fields)}${part(big, '; filename="sealed"')}content-type: application/octet-stream\r\n\r\n`)
      const hash = hashing()
      let size = 0
      for await (const bytes of content) {
        hash.update(bytes)
        size += bytes.length
        yield bytes
      }
      yield utf8(`\r\n${texts(await behind({ size, hash: hash.digest() }))}--${boundary}--\r\n`)
    },
  }
}
