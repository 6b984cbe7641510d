import { backendTable } from '../backend-table.ts'
import type { Child } from '../element.ts'
import { curlOf } from '../gateway.ts'
import type { Page } from '../page.ts'
import { badge, heading, note } from '../parts.ts'
import { readings } from '../readings.ts'
import { type Listed, modelPaths, modelsOf } from '../sight.ts'
import { type Column, table } from '../table.ts'

type Kind = 'prompt_price_per_k' | 'completion_price_per_k'

/** The first listed price of this kind; null where the catalogue has none. */
const priceOf = ({ described }: Listed, kind: Kind): number | null => {
  const regions = Object.values(described?.price_config ?? {}).flatMap((it) => Object.values(it ?? {}))
  return regions.map((it) => it[kind]).find((it) => it !== undefined) ?? null
}

const price = (head: string, kind: Kind): Column<Listed> => ({
  head,
  value: (it) => priceOf(it, kind),
  show: (it) => priceOf(it, kind) ?? '–',
  number: true,
})

const kinds: Readonly<Record<string, string>> = {
  CHAT: 'chat',
  AUDIO_TRANSCRIPTION: 'transcription',
  AUDIO_SPEECH: 'speech',
  IMAGE: 'images',
}

const kindOf = ({ described, decides }: Listed): string => kinds[described?.type ?? ''] ?? (decides ? 'decisions' : '–')

const ways = ({ clear, sealed, decides }: Listed): readonly string[] => [
  ...(clear ? ['in the clear'] : []),
  ...(sealed ? ['sealed'] : []),
  ...(decides ? ['decisions'] : []),
]

const shownWays = (it: Listed): Child => ways(it).map((way) => [badge(way === 'sealed' ? 'accent' : 'plain', way), ' '])

export const models: Page = {
  name: 'models',
  title: 'Models',
  sees: () => true,
  async show({ gateway, sight }) {
    const [listed, measured] = await Promise.all([
      modelsOf(gateway, sight),
      sight.measures ? readings(gateway) : Promise.resolve(null),
    ])
    const paths = modelPaths(sight.links)
    const path = paths['standard'] ?? paths['openai'] ?? paths['confidential'] ?? paths['decisions'] ?? '/'
    return [
      heading('Models and backends'),
      table<Listed>({
        title: 'Models',
        file: 'models',
        rows: listed,
        curl: curlOf(gateway.base, path),
        empty: 'This key may use no model, or none is configured.',
        columns: [
          { head: 'Model', value: ({ model }) => model },
          { head: 'Kind', value: kindOf },
          { head: 'Served', value: (it) => ways(it).join(', '), show: shownWays },
          {
            head: 'Owner',
            value: ({ described }) => described?.owned_by ?? null,
            show: (it) => it.described?.owned_by || '–',
          },
          {
            head: 'Regions',
            value: ({ described }) => described?.regions.join(' ') ?? null,
            show: (it) => it.described?.regions.join(', ') || '–',
          },
          price('Input, per 1k', 'prompt_price_per_k'),
          price('Output, per 1k', 'completion_price_per_k'),
        ],
      }),
      measured && backendTable(gateway.base, measured.backends, measured.earlier),
      note(
        sight.measures
          ? 'A state is what the backend did in the last minute. p50 and p95 are estimates since the gateway started. Calls inside the enclave are not measured.'
          : 'The states of backends are shown to a key that may read /metrics.',
      ),
    ]
  },
}
