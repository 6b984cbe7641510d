import type { Listed } from './sight.ts'

export type PriceKind = 'prompt_price_per_k' | 'completion_price_per_k' | 'request_price'

/** The first listed price of this kind; null where the catalogue has none. */
export const priceOf = ({ described }: Pick<Listed, 'described'>, kind: PriceKind): number | null => {
  const regions = Object.values(described?.price_config ?? {}).flatMap((region) => Object.values(region ?? {}))
  return regions.map((region) => region[kind]).find((price) => price !== undefined) ?? null
}

/** The cost of the tokens by the listed prices; null where a price is missing. */
export const costOf = (
  listed: Pick<Listed, 'described'>,
  { input_tokens: input, output_tokens: output }: { readonly input_tokens: number; readonly output_tokens: number },
): number | null => {
  const [prompt, completion] = [priceOf(listed, 'prompt_price_per_k'), priceOf(listed, 'completion_price_per_k')]
  if ((input > 0 && prompt === null) || (output > 0 && completion === null)) return null
  return (input * (prompt ?? 0) + output * (completion ?? 0)) / 1_000 + (priceOf(listed, 'request_price') ?? 0)
}
