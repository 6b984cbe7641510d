/** The parts of a base64 data URL; null for any other text. */
export const dataUrlOf = (url: string): { readonly mime: string; readonly data: string } | null => {
  const head = /^data:([^;,]{0,200})(?:;[^;,]{0,200}){0,8};base64,/i.exec(url)
  return head && { mime: typeOf(head[1]!), data: url.slice(head[0].length) }
}

/** Many write the type of a JPEG like the ending of its name. */
const typeOf = (written: string): string => {
  const mime = written.trim().toLowerCase()
  return mime === 'image/jpg' ? 'image/jpeg' : mime
}
