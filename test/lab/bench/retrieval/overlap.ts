import { eachWord } from '../../../../plugins/sealed/retrieval/words.ts'

/** The share of a question's content words that stand in a text, after stemming. */
export const overlapOf = (question: string, text: string): number => {
  const there = contentOf(text)
  const asked = [...contentOf(question)]
  return asked.filter((word) => there.has(word)).length / asked.length
}

const contentOf = (text: string): ReadonlySet<string> => {
  const words = new Set<string>()
  eachWord(text, (word, _, __, part) => {
    if (!part && !empty.has(word)) words.add(word)
  })
  return words
}

const empty = new Set<string>()
eachWord(
  `a about after again against all along already also although am an and another any anybody anyone anything are around as at away
  back be because been before being below between both but by can cannot could did do does doing don't done down each either else
  ever every few for from further get gets give given go goes had has have having he her here hers him his how i if in inside into
  is it its itself just keep let like long made make many may me might mine more most much must my no nobody nor not nothing of off
  on once one only onto or other our out over own perhaps per please put quite rather really same say see shall she should since so
  some somebody someone something somewhere soon still such take than that the their them then there these they thing this those
  through to together too under until up upon us very was way we well were what when where whether which while who whoever whole
  whom whose why will with within without would yes yet you your`,
  (word) => void empty.add(word),
)
