import { parser } from '@prometheus-io/lezer-promql'

export interface Query {
  /** What stands where it could not be read on; empty when the whole is a query. */
  readonly broken: readonly string[]
  readonly metrics: readonly string[]
  readonly labels: readonly string[]
  /** What labels are compared with. */
  readonly compared: readonly { readonly label: string; readonly with: string; readonly pattern: boolean }[]
}

/** Reads a query by Prometheus' own grammar; variables of Grafana stand for themselves. */
export const readQuery = (query: string): Query => {
  const text = query.replaceAll('$__rate_interval', '5m')
  const found = { broken: [] as string[], metrics: [] as string[], labels: [] as string[] }
  const compared: Query['compared'][number][] = []
  parser.parse(text).iterate({
    enter({ type, name, from, to, node }) {
      const words = text.slice(from, to)
      if (type.isError) found.broken.push(text.slice(from, from + 20))
      else if (name === 'Identifier' && node.parent?.name === 'VectorSelector') found.metrics.push(words)
      else if (name === 'LabelName') found.labels.push(words)
      else if (name === 'UnquotedLabelMatcher') {
        const [, label, sign, value] = /^(\w+)\s*([!=~]+)\s*"(.*)"$/.exec(words) ?? []
        if (label && sign) compared.push({ label, with: value ?? '', pattern: sign.includes('~') })
      }
    },
  })
  return { ...found, compared }
}
