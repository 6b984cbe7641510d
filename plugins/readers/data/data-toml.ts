import { engine } from '../../../core/optional-package.ts'

/** Throws for what is no TOML. Dates and times are objects that write themselves as they stood. */
export const parseToml = async (text: string): Promise<unknown> => {
  const { parse } = await engine('smol-toml', () => import('smol-toml'))
  return parse(text, { integersAsBigInt: 'asNeeded' })
}
