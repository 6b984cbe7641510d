import { setTimeout as sleep } from 'node:timers/promises'
import type { Key, Lane, Tally } from './scene.ts'
import type { Stage } from './stage.ts'

const patience = 30_000
const fields = ['requests', 'input', 'output', 'estimated', 'unanswered'] as const

type Row = Tally & { readonly key: string }

/** Compares what the replicas wrote down together with what was used, key by key; what still differs after a while is told. */
export const differing = async (stage: Stage, lanes: readonly Lane[]): Promise<readonly string[]> => {
  const flaws: string[] = []
  const all = lanes.flatMap(({ over }) => over)
  const until = performance.now() + patience
  for (const [at, { boss, keys }] of all.entries()) {
    for (;;) {
      const rows = await rowsOf(stage, at, boss)
      const wrong = keys.flatMap((key) => flawsOf(key, rows))
      if (wrong.length > 0 && performance.now() < until) await sleep(50)
      else {
        flaws.push(...wrong)
        break
      }
    }
  }
  return flaws
}

const rowsOf = async ({ send, bases }: Stage, replica: number, key: string): Promise<readonly Row[]> => {
  const whole = await send(bases[replica % 3]!, { method: 'GET', path: '/admin/usage?limit=100', key }).whole
  const { data } = JSON.parse(whole) as { readonly data: { readonly usage: readonly Row[] } | null }
  return data?.usage ?? []
}

const flawsOf = ({ id, tally }: Key, rows: readonly Row[]): readonly string[] => {
  const counted = rows.filter(({ key }) => key === id)
  return fields.flatMap((name) => {
    const sum = counted.reduce((sum, row) => sum + row[name], 0)
    return sum === tally[name] ? [] : [`${id}: ${name} are ${sum}, not ${tally[name]}`]
  })
}

export const total = (lanes: readonly Lane[]): Tally =>
  lanes
    .flatMap(({ over }) => over.flatMap(({ keys }) => keys))
    .reduce((sum, { tally }) => Object.fromEntries(fields.map((name) => [name, sum[name] + tally[name]])) as never, {
      ...{ requests: 0, input: 0, output: 0, estimated: 0, unanswered: 0 },
    })
