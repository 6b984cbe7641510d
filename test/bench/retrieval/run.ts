import { corpusOf, type Plan } from './corpus.ts'
import { offline } from './embed.ts'
import { largeOf } from './large.ts'
import { kinds, type Question, recall, stageOf, type Way } from './measure.ts'

/** `node dist/test/bench/retrieval/run.js [tune] [characters of a passage]` */
const tuning = process.argv.includes('tune')
const size = process.argv.map(Number).find((it) => it > 0)

/** What is reported has other texts and other questions than those that it was tuned on. */
const plan: Plan = { seed: tuning ? 1 : 20, half: tuning ? 0 : 1, facts: 4, around: 4, asked: 5 }
const many = 20_000

const { embed, dispose } = offline()
try {
  const began = performance.now()
  const stage = await stageOf(plan, embed, size)
  const seconds = (performance.now() - began) / 1000
  console.log(`${stage.documents} documents in ${stage.passages} passages, indexed in ${seconds.toFixed(0)} s`)
  const line = (name: string, those: readonly Question[]) => {
    const shared = those.reduce((sum, { overlap }) => sum + overlap, 0) / those.length
    const shares = (['words', 'meaning', 'both'] as const satisfies readonly Way[]).map((way) =>
      recall(stage, those, way),
    )
    console.log(
      [name.padEnd(22), those.length, shared.toFixed(2), ...shares.map((it) => it.toFixed(3))].map(column).join(''),
    )
  }
  console.log(['recall@5'.padEnd(22), 'questions', 'shared', 'words', 'meaning', 'both'].map(column).join(''))
  for (const kind of kinds)
    line(
      kind,
      stage.questions.filter((it) => it.kind === kind),
    )
  line(
    'all in other words',
    stage.questions.filter(({ kind }) => kind !== 'literal'),
  )

  const before = performance.now()
  const large = largeOf(corpusOf(plan).documents, many)
  const put = performance.now() - before
  const times = stage.questions.slice(0, 300).map(({ query, vector }) => {
    const began = performance.now()
    large.search({ query, vector, most: 20 })
    return performance.now() - began
  })
  const [half, worst] = [0.5, 0.99].map((part) => times.toSorted((a, b) => a - b)[Math.floor(times.length * part)]!)
  console.log(
    `${many} passages: a search takes ${half!.toFixed(1)} ms (p50), ${worst!.toFixed(1)} ms (p99); ` +
      `${(large.size / 2 ** 20).toFixed(0)} MiB, put in within ${put.toFixed(0)} ms`,
  )
} finally {
  await dispose()
}

function column(value: string | number): string {
  return String(value).padStart(10)
}
