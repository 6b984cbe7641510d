import { searchIndex } from '../../../../plugins/sealed/retrieval/search-index.ts'
import { offline } from './embed.ts'
import type { Plan } from './corpus.ts'
import { type Way, recall, stageOf } from './measure.ts'
import { wildQuestions } from './wild/questions.ts'
import { reported } from './wild/report.ts'
import { measured } from './wild/stage.ts'
import { atOnce } from '../../../../plugins/shared/work-in-turns.ts'

/** Other texts and other questions than those that it was tuned on. */
const plan: Plan = { seed: 20, half: 1, facts: 4, around: 4, asked: 5 }
const many = 20_000

const { embed, dispose } = offline()
try {
  const half = process.argv.includes('--tuning') ? 0 : 1
  for (const line of reported(await measured(wildQuestions(half), embed))) console.log(line)
  const stage = await stageOf(plan, embed)
  const { documents, passages, literal, paraphrased } = stage
  console.log(
    `${documents} documents in ${passages} passages; ${literal.length} literal questions, ${paraphrased.length} paraphrases`,
  )
  for (const way of ['words', 'meaning', 'both'] as const satisfies readonly Way[]) {
    const share = (questions: typeof literal) => recall(stage, questions, way).toFixed(3)
    console.log(`recall@5 by ${way}: literal ${share(literal)}, paraphrases ${share(paraphrased)}`)
  }
  const large = searchIndex()
  for (let at = 0; at < many / 20; at++)
    atOnce(
      large.put(
        `file_${at}`,
        Array.from({ length: 20 }, (_, row) => filler(stage.texts, at * 20 + row)),
      ),
    )
  const times = paraphrased.slice(0, 100).map(({ query, vector }) => {
    const began = performance.now()
    atOnce(large.search({ query, vector, most: 20 }))
    return performance.now() - began
  })
  times.sort((one, other) => one - other)
  console.log(
    `a search among ${many} passages: ${times[50]!.toFixed(1)} ms at the median, ${times[98]!.toFixed(1)} ms at worst but one (at most 50); ` +
      `${(large.size / 1048576).toFixed(0)} MiB held`,
  )
} finally {
  await dispose()
}

/** Texts of the corpus, over and over: words as common as in the corpus, and none that is there for its own sake. */
function filler(texts: readonly string[], at: number) {
  const vector = Float32Array.from({ length: 512 }, (_, place) => Math.sin(at * 0.37 + place * 1.7))
  return { passage: { text: texts[at % texts.length]!, heading: null, page: at }, vector }
}
