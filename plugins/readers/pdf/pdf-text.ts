/** Removes invisible characters and repeated empty lines. */
export const tidyText = (text: string): string =>
  text
    .replace(hidden, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

/** Control characters except tab and line feed, and noncharacters. */
const hidden = /[\0-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]/g
/** Characters that fonts use for glyphs without a known character. */
const unknown = /[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffd-\uffff\ue000-\uf8ff]/g

/** The largest share of unknown glyphs in a trusted text: bullets and logos are such glyphs. */
const mostUnknown = 0.1

/** True when the characters of a text layer match the visible page. */
export const isTrusted = (raw: string): boolean => {
  const seen = raw.replace(/\s+/g, '').length
  return (raw.match(unknown)?.length ?? 0) <= seen * mostUnknown
}
