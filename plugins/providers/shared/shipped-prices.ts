import type { Price } from '../../shared/prices.ts'

/** What a vendor asks for its models in US dollars, as its pages were read on that day. */
export interface PriceList {
  /** `YYYY-MM-DD`. */
  readonly asOf: string
  readonly sources: readonly string[]
  readonly models: Readonly<Record<string, Price>>
}

/** Prices of a million tokens. */
const tokens = (input: number, output: number, cached?: number): Price => ({
  input,
  output,
  ...(cached !== undefined && { cached }),
})

/** Tokens that are written to the prompt cache cost what those of any prompt do. */
const openai = (price: Price): Price => ({ ...price, written: price.input, terms: { batch: 0.5 } })

/** Longer prompts have other prices, which the table does not have. */
const upTo = (above: number, price: Price): Price => openai({ ...price, long: { above } })

/** Its cache has one factor for each kind of use; that of reading differs between models. */
const claude = (input: number, output: number, reading = 0.1): Price => ({
  ...tokens(input, output, input * reading),
  written: input * 1.25,
  writtenHour: input * 2,
  terms: { batch: 0.5 },
  regions: { us: 1.1 },
})

/** Sound in a prompt costs what text does, unless the page has another price for it. */
const gemini = ({ long, ...price }: Price): Price => ({
  audioInput: price.input,
  ...price,
  ...(long && { long: { audioInput: long.input, ...long } }),
  terms: { batch: 0.5 },
})

/** By the name of the provider's plugin, then by the model. */
export const shipped: Readonly<Record<string, PriceList>> = {
  openai: {
    asOf: '2026-11-05',
    sources: ['https://developers.openai.com/api/docs/pricing', 'https://openai.com/api/pricing/'],
    models: {
      'gpt-5.5': upTo(272_000, tokens(5, 30, 0.5)),
      'gpt-5.4': upTo(272_000, tokens(2.5, 15, 0.25)),
      'gpt-5.4-mini': openai(tokens(0.75, 4.5, 0.075)),
      'gpt-5.4-nano': openai(tokens(0.2, 1.25, 0.02)),
      'gpt-5.1': openai(tokens(1.25, 10, 0.125)),
      'gpt-5': openai(tokens(1.25, 10, 0.125)),
      'gpt-5-mini': openai(tokens(0.25, 2, 0.025)),
      'gpt-5-nano': openai(tokens(0.05, 0.4, 0.005)),
      'gpt-4.1': openai(tokens(2, 8, 0.5)),
      'gpt-4.1-mini': openai(tokens(0.4, 1.6, 0.1)),
      'gpt-4.1-nano': openai(tokens(0.1, 0.4, 0.025)),
      'gpt-4o': openai(tokens(2.5, 10, 1.25)),
      'gpt-4o-mini': openai(tokens(0.15, 0.6, 0.075)),
      o3: openai(tokens(2, 8, 0.5)),
      'o4-mini': openai(tokens(1.1, 4.4, 0.275)),
      'text-embedding-3-small': openai({ input: 0.02 }),
      'text-embedding-3-large': openai({ input: 0.13 }),
      'whisper-1': { second: 6_000 / 60 },
      'tts-1': { character: 15 },
      'tts-1-hd': { character: 30 },
    },
  },
  anthropic: {
    asOf: '2026-11-22',
    sources: ['https://platform.claude.com/docs/en/about-claude/pricing'],
    models: {
      'claude-fable-5-1': claude(10, 50, 0.025),
      'claude-fable-5': claude(10, 50),
      'claude-opus-5-5': claude(4, 20, 0.05),
      'claude-sonnet-5-5': claude(2, 10, 0.05),
      'claude-sonnet-5': claude(2, 10),
      'claude-haiku-5-5': { ...claude(0.1, 0.5), long: { above: 100_000, ...claude(0.5, 2.5) } },
      'claude-opus-5': claude(5, 25),
      'claude-opus-4-8': claude(5, 25),
      'claude-opus-4-7': claude(5, 25),
      'claude-opus-4-6': claude(5, 25),
      'claude-opus-4-5': claude(5, 25),
      'claude-opus-4-1': claude(15, 75),
      'claude-haiku-4-5': claude(1, 5),
      'claude-sonnet-4-5': { ...claude(3, 15), long: { above: 200_000, ...claude(6, 22.5) } },
    },
  },
  gemini: {
    asOf: '2026-10-07',
    sources: ['https://ai.google.dev/gemini-api/docs/pricing'],
    models: {
      'gemini-3.5-flash': gemini(tokens(1.5, 9)),
      'gemini-3.1-pro-preview': gemini({ ...tokens(2, 12, 0.2), long: { above: 200_000, ...tokens(4, 18, 0.4) } }),
      'gemini-2.5-pro': gemini({ ...tokens(1.25, 10, 0.125), long: { above: 200_000, ...tokens(2.5, 15, 0.25) } }),
      'gemini-2.5-flash': gemini({ ...tokens(0.3, 2.5, 0.03), audioInput: 1 }),
      'gemini-2.5-flash-lite': gemini({ ...tokens(0.1, 0.4, 0.01), audioInput: 0.3 }),
      'gemini-embedding-2': gemini({ input: 0.2 }),
    },
  },
}

/** The price of a model, or of the one that it is a dated version of; null when the vendor's list has neither. */
export const shippedPrice = (vendor: string, model: string): Price | null => {
  const models = Object.hasOwn(shipped, vendor) ? shipped[vendor]!.models : {}
  for (const name of [model, model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')])
    if (Object.hasOwn(models, name)) return models[name]!
  return null
}
