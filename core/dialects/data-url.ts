/** The parts of a base64 data URL; null for any other text. */
export const dataUrlOf = (url: string): { readonly mime: string; readonly data: string } | null => {
  const head = /^data:([^;,]*)(?:;[^;,]+)*;base64,/.exec(url)
  return head && { mime: head[1]!, data: url.slice(head[0].length) }
}
