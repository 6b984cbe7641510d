/** What a catalogue of Failover Bench tells of its scenes. */
export interface Catalogue {
  readonly default_fallback: string
  readonly scenarios: readonly { readonly id: string; readonly model: string; readonly fallback_model?: string }[]
}

/** One row of the card. */
export interface Row {
  readonly name: string
  readonly label: string
  readonly notes: string
  /** Ms of silence after which a backend is given up. */
  readonly silence: number
}

const same = 'one fallback, continuation where the fallback takes a prefix, and the context lengths of both models'

/** The budget that the methodology gives to every system is 30 s of silence, and the default of two retries. */
export const rows: readonly Row[] = [
  {
    ...{ name: 'sealgate', label: '', silence: 30_000 },
    notes: `The defaults, with 30 s of silence, ${same}.`,
  },
  {
    ...{ name: 'sealgate-tuned', label: ', first token within 10 s', silence: 10_000 },
    notes: `The same with \`timeouts.firstToken\` and \`timeouts.idle\` of 10 s: ${same}.`,
  },
]

/** A model that takes no prefix says so in its name. */
const goesOn = (model: string): boolean => !model.endsWith('-noprefill')

/** sealgate in front of the wall: each model of a scene has its fault first, and the fallback of the scene behind it. */
export const configFor = ({ default_fallback, scenarios }: Catalogue, wall: string, { silence }: Row) => ({
  providers: { wall: { use: 'openai', baseUrl: `${wall}/v1`, apiKey: 'none', continuation: {} } },
  models: Object.fromEntries([
    ...scenarios.map(({ model, fallback_model = default_fallback }) => [
      model,
      {
        continues: goesOn(fallback_model),
        upstreams: [
          { provider: 'wall', priority: 1, context_tokens: 8192 },
          { provider: 'wall', priority: 2, model: fallback_model, context_tokens: 131_072 },
        ],
      },
    ]),
    [default_fallback, { upstreams: [{ provider: 'wall' }] }],
  ]),
  timeouts: { firstToken: silence, idle: silence },
})

/** The description of sealgate for the runner; its format is YAML, of which JSON is a part. */
export const systemFor = ({ name, label, notes }: Row, base: string, key: string, version: string): string =>
  JSON.stringify({
    ...{ name, label: `sealgate ${version}${label}`, adapter: 'endpoint', notes },
    params: { base_url: `${base}/v1`, api_key: key },
  })
