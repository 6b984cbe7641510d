import type { Section } from '../../../../core/ports/reader.ts'
import { chance, type Chance } from './chance.ts'
import type { Domain, Fact } from './domain.ts'
import { clinic } from './domains/clinic.ts'
import { employer } from './domains/employer.ts'
import { ferry } from './domains/ferry.ts'
import { housing } from './domains/housing.ts'
import { hut } from './domains/hut.ts'
import { insurer } from './domains/insurer.ts'
import { library } from './domains/library.ts'
import { machine } from './domains/machine.ts'
import { museum } from './domains/museum.ts'
import { school } from './domains/school.ts'
import { software } from './domains/software.ts'
import { vineyard } from './domains/vineyard.ts'
import { fillings, general, names } from './words.ts'

export interface Document {
  readonly id: string
  readonly sections: readonly Section[]
}

/** Something that stands in one document, and what may be asked to find it there. */
export interface Known {
  readonly fileId: string
  /** The sentence itself. */
  readonly told: string
  readonly named: boolean
  readonly literal: string
  readonly paraphrase: string
}

export interface Plan {
  readonly seed: number
  /** Which of the facts are asked for: what is tuned on the one half is measured on the other. */
  readonly half: 0 | 1
  /** Facts in a document, and sentences beside each. */
  readonly facts: number
  readonly around: number
  /** Questions for each fact that every entity has. */
  readonly asked: number
}

export interface Corpus {
  readonly documents: readonly Document[]
  readonly known: readonly Known[]
}

const domains: Readonly<Record<string, Domain>> = {
  clinic,
  employer,
  ferry,
  housing,
  hut,
  insurer,
  library,
  machine,
  museum,
  school,
  software,
  vineyard,
}
const entities = 13

/** 312 documents: two of each of 13 entities in 12 domains, whose names other domains use as well. */
export const corpusOf = (plan: Plan): Corpus => {
  const luck = chance(plan.seed)
  const documents: Document[] = []
  const known: Known[] = []
  for (const [kind, domain] of Object.entries(domains)) {
    const told: (Known & { readonly fact: Fact })[] = []
    const single = [...luck.shuffled(domain.single)]
    for (const name of luck.shuffled(names).slice(0, entities)) {
      const facts = luck.shuffled(domain.shared)
      for (const half of [0, 1] as const) {
        const id = `${kind}-${name.toLowerCase()}-${half}`
        const own = facts.slice(half * plan.facts, (half + 1) * plan.facts)
        // Each that stands in one document only gets a document of its own.
        const rare = half === 0 ? single.splice(0, 1) : []
        const filled = [...own, ...rare].map((fact) => stated(fact, name, id, !rare.includes(fact), luck))
        told.push(...filled)
        documents.push({ id, sections: sectionsOf(domain, domain.titles[half], name, filled, plan, luck) })
      }
    }
    const asked = (fact: Fact) => [...domain.shared, ...domain.single].indexOf(fact) % 2 === plan.half
    for (const fact of [...domain.shared, ...domain.single].filter(asked)) {
      const those = luck.shuffled(told.filter((line) => line.fact === fact)).slice(0, plan.asked)
      known.push(...those)
    }
  }
  return { documents, known }
}

const stated = (fact: Fact, name: string, fileId: string, named: boolean, luck: Chance) => {
  const fill = (text: string) => text.replaceAll('{name}', name)
  const told = fill(luck.pick(fact.told)).replace(/\{(\w+?)2?\}/g, (_, slot: string) => fillings(slot, luck))
  return { fact, fileId, told, named, literal: fill(fact.literal), paraphrase: fill(luck.pick(fact.asked)) }
}

/** Some documents have a heading for each matter, some run through, some have pages. */
const sectionsOf = (
  domain: Domain,
  title: string,
  name: string,
  facts: readonly { readonly fact: Fact; readonly told: string }[],
  { around }: Plan,
  luck: Chance,
): readonly Section[] => {
  const beside = [...luck.shuffled([...domain.around, ...luck.shuffled(general).slice(0, 10)])]
  const paragraphs = luck.shuffled(facts).map(({ fact, told }) => {
    const sentences = beside.splice(0, luck.below(around + 1))
    const before = luck.below(sentences.length + 1)
    return { heading: fact.heading, text: [...sentences.slice(0, before), told, ...sentences.slice(before)].join(' ') }
  })
  const heading = title.replaceAll('{name}', name)
  const shape = luck.below(3)
  if (shape === 0) return [{ heading, text: paragraphs.map(({ text }) => text).join('\n\n'), page: null }]
  const opening = { heading, text: `${beside.pop()!} ${beside.pop()!}`, page: shape === 2 ? 1 : null }
  return [opening, ...paragraphs.map((paragraph, at) => ({ ...paragraph, page: shape === 2 ? at + 2 : null }))]
}
