import { optionalPackage } from '../../shared/optional-package.ts'

/** Throws when the text is not TOML. Dates and times are objects that print as written. */
export const parseToml = async (text: string): Promise<unknown> => {
  const { parse } = await optionalPackage('smol-toml', () => import('smol-toml'))
  return parse(text, { integersAsBigInt: 'asNeeded' })
}
