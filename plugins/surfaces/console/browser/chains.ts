import type { Backing, Chained, Link } from './answers.ts'
import { lampOf } from './backing.ts'
import { percent } from './format.ts'
import { figure, lamp, linked, table } from './table.ts'

interface Row extends Link {
  readonly of: string
  /** The place in the chain, from 1. */
  readonly place: number
  /** Of the calls of its priority, from 0 to 1; null where all weigh nothing. */
  readonly share: number | null
}

/** The links of all chains in their order, each with its share among those of its priority. */
export const linksOf = (models: readonly Chained[]): readonly Row[] =>
  models.flatMap(({ model: of, chain }) =>
    chain.map((link, at) => {
      const equals = chain.filter(({ priority }) => priority === link.priority)
      const sum = equals.reduce((sum, { weight }) => sum + weight, 0)
      return { ...link, of, place: at + 1, share: sum === 0 ? null : link.weight / sum }
    }),
  )

const breakerOf = ({ backend, model }: Row, backends: readonly Backing[]) => {
  const breaker = backends
    .find((backing) => backing.backend === backend)
    ?.breakers.find((other) => other.model === model)
  return lampOf(breaker ?? { state: 'closed', rest_ms: 0 }, 0)
}

export const chainTable = (models: readonly Chained[], backends: readonly Backing[], curl: string): HTMLElement =>
  table<Row>({
    title: 'Chains',
    file: 'chains',
    rows: linksOf(models),
    curl,
    empty: 'No model has a backend on this side of the enclave.',
    columns: [
      linked(
        'Model',
        ({ of }) => of,
        (model) => `#/models/weights/${encodeURIComponent(model)}`,
      ),
      { head: 'Place', value: ({ place }) => place, number: true },
      linked(
        'Backend',
        ({ backend }) => backend,
        (backend) => `#/models/backend/${encodeURIComponent(backend)}`,
      ),
      { head: 'Backend’s model', value: ({ model }) => model },
      lamp('Breaker', (row) => breakerOf(row, backends)),
      { head: 'Priority', value: ({ priority }) => priority, number: true },
      { head: 'Weight', value: ({ weight }) => weight, number: true },
      figure('Share', ({ share }) => share, percent),
      { head: 'Context', value: (row) => row.context_tokens, number: true },
    ],
  })
