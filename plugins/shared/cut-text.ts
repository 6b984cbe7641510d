/** The beginning of a text, without half of a pair of surrogates at its end. */
export const cutText = (text: string, most: number): string => text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
