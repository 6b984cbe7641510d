import { type Backend, type State, stateOf } from './backends.ts'
import { count, seconds } from './format.ts'
import { curlOf } from './gateway.ts'
import { badge } from './parts.ts'
import { table } from './table.ts'

const words: Readonly<Record<State, string>> = {
  good: 'answers',
  mixed: 'fails sometimes',
  bad: 'fails',
  idle: 'not asked',
}

/** The backends that were asked, with what they did in the last minute. */
export const backendTable = (base: string, backends: readonly Backend[], earlier: readonly Backend[]): HTMLElement => {
  const state = (it: Backend) => stateOf(it, earlier.find(({ name }) => name === it.name) ?? null)
  const time = (it: number | null) => (it === null ? '–' : seconds(it))
  return table<Backend>({
    title: 'Backends',
    file: 'backends',
    rows: backends,
    curl: curlOf(base, '/metrics'),
    empty: 'No backend was asked since the gateway started.',
    columns: [
      { head: 'Backend', value: ({ name }) => name },
      { head: 'State', value: (it) => words[state(it)], show: (it) => badge(state(it), words[state(it)]) },
      { head: 'Answered', value: ({ answered }) => answered, show: (it) => count(it.answered), number: true },
      { head: 'Failed', value: ({ failed }) => failed, show: (it) => count(it.failed), number: true },
      {
        head: 'Interrupted',
        value: ({ interrupted }) => interrupted,
        show: (it) => count(it.interrupted),
        number: true,
      },
      { head: 'p50', value: ({ p50 }) => p50, show: ({ p50 }) => time(p50), number: true },
      { head: 'p95', value: ({ p95 }) => p95, show: ({ p95 }) => time(p95), number: true },
    ],
  })
}
