/** The ISO 639 code of a language, from a code or an English name. Any other text is returned unchanged. */
export const languageCode = (text: string): string => codeOf('language', text)

/** The ISO 3166 code of a country, from a code or an English name. Any other text is returned unchanged. */
export const countryCode = (text: string): string => codeOf('region', text)

type Type = 'language' | 'region'

/** Names that the Unicode tables lack. */
const alsoCalled: Readonly<Record<Type, Readonly<Record<string, string>>>> = {
  language: { mandarin: 'zh', farsi: 'fa', flemish: 'nl', castilian: 'es', filipino: 'tl', tagalog: 'tl' },
  region: {
    usa: 'us',
    'united states of america': 'us',
    'great britain': 'gb',
    england: 'gb',
    'czech republic': 'cz',
    turkey: 'tr',
    holland: 'nl',
    'ivory coast': 'ci',
  },
}

/** Made with the first use: a table asks for 676 names. */
const tables = new Map<Type, ReadonlyMap<string, string>>()

const codeOf = (type: Type, text: string): string => {
  if (text.length > 100) return text
  const table = tables.get(type) ?? tableOf(type)
  tables.set(type, table)
  return table.get(plain(text)) ?? text
}

const tableOf = (type: Type): ReadonlyMap<string, string> => {
  const names = new Intl.DisplayNames('en', { type, fallback: 'none' })
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const table = new Map(Object.entries(alsoCalled[type]))
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    const name = names.of(type === 'region' ? code.toUpperCase() : code)
    if (name !== undefined && isCurrent(type, code)) table.set(plain(name), code)
  }
  return table
}

/** Some names also have an old code. */
const isCurrent = (type: Type, code: string): boolean => {
  const tag = type === 'region' ? `und-${code.toUpperCase()}` : code
  return Intl.getCanonicalLocales(tag)[0] === tag
}

/** Letters without accents, in lower case, so that spellings of a name meet. */
const plain = (name: string): string => name.normalize('NFKD').replace(/\p{M}/gu, '').trim().toLowerCase()
