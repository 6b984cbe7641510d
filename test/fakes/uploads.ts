import { createHash, randomBytes } from 'node:crypto'
import { toHex } from '../../plugins/sealed/wire/bytes.ts'

/** What a client sends for a file; the bytes need not be sealed for those who never open them. */
export const uploadOf = (content: Uint8Array, more: Readonly<Record<string, unknown>> = {}) => ({
  client_hash: createHash('sha256').update(content).digest('hex'),
  encrypted_name: toHex(randomBytes(72)),
  kid: toHex(randomBytes(16)),
  wrapped_dek: toHex(randomBytes(40)),
  mime_type: toHex(randomBytes(168)),
  version: 2,
  encrypted_content: toHex(content),
  ...more,
})

/** The same as a form, with raw bytes. */
export const formOf = (content: Uint8Array, more: Readonly<Record<string, unknown>> = {}): FormData => {
  const { encrypted_content: _, ...fields } = uploadOf(content, more)
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value))
  form.set('encrypted_content', new Blob([content as Uint8Array<ArrayBuffer>]), 'sealed')
  return form
}
