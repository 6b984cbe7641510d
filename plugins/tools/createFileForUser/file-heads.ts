/** The first bytes of files, by their type: a reader opens no file that begins otherwise. */
const heads: readonly (readonly [mime: RegExp, head: RegExp])[] = [
  [/^application\/pdf$/, /^%PDF-/],
  [/^application\/(zip$|vnd\.openxmlformats-|vnd\.oasis\.)/, /^PK\x03\x04/],
  [/^image\/png$/, /^\x89PNG\r\n\x1a\n/],
  [/^image\/jpe?g$/, /^\xff\xd8\xff/],
  [/^image\/gif$/, /^GIF8[79]a/],
  [/^image\/webp$/, /^RIFF[^]{4}WEBP/],
]

/** Types that no text is a file of. */
const binary = /^(image|audio|video|font)\/|^application\/(pdf|zip|gzip|msword|vnd\.(ms-|openxmlformats-|oasis\.))/

export const isBinary = (mime: string): boolean => binary.test(mime)

/** Whether the bytes begin as files of the type do; true for a type without a known beginning. */
export const beginsAs = (mime: string, bytes: Uint8Array): boolean => {
  const head = heads.find(([type]) => type.test(mime))?.[1]
  return head === undefined || head.test(Buffer.from(bytes.subarray(0, 16)).toString('latin1'))
}
