import characters from './hong-kong.json' with { type: 'json' }

/** The characters of HKSCS in the order of the private ones that Node reads in their places; a blank stands for none. */
let known: readonly string[] | null = null

/** Text of Big5 as browsers read it: with the characters of Hong Kong, four of which have their accent apart. */
export const withHongKong = (text: string): string =>
  text.replace(/[\ue000-\uf848]/g, (own) => {
    known ??= characters.match(/.[\u0304\u030c]?/gsu)!
    return known[own.charCodeAt(0) - 0xe000]!.trim() || own
  })
