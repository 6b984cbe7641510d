/** A text without characters that show nothing, and without more than one empty line in a row. */
export const tidy = (text: string): string =>
  text
    .replace(hidden, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

/** Controls without tab and line feed, and what stands for no character. */
const hidden = /[\0-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]/g
/** What fonts map glyphs to whose characters they don't know. */
const unknown = /[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffd-\uffff\ue000-\uf8ff]/g

/** The largest share of glyphs without a character in a text that is believed: bullets and logos are such. */
const mostUnknown = 0.1

/** Whether the characters of a text layer are those that a reader of the page sees. */
export const isTrusted = (raw: string): boolean => {
  const seen = raw.replace(/\s+/g, '').length
  return (raw.match(unknown)?.length ?? 0) <= seen * mostUnknown
}
