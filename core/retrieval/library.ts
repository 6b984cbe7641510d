import { type Passage, readingOf } from './split.ts'
import { beginningOf, entriesOf, hashOf, type Postings, postingsOf } from './postings.ts'
import { snippetOf } from './snippet.ts'
import { cosines, type Vectors, vectorsOf } from './vectors.ts'
import { eachWord } from './words.ts'

export interface Placed {
  readonly passage: Passage
  readonly vector: Float32Array | null
}

export interface Found {
  readonly fileId: string
  readonly row: number
  readonly snippet: string
  readonly score: number
  readonly page: number | null
}

export interface Wanted {
  readonly query: string
  readonly vector: Float32Array | null
  readonly fileIds?: readonly string[]
  readonly most: number
}

export interface Library {
  put(fileId: string, passages: readonly Placed[]): void
  remove(fileId: string): void
  search(wanted: Wanted): readonly Found[]
  readonly size: number
}

interface Shelf {
  readonly fileId: string
  readonly passages: readonly Passage[]
  readonly postings: Postings
  readonly vectors: Vectors | null
}

export const tune = { k1: 1.2, b: 0.5, alpha: 0.5, gamma: 0.2, part: 0.5, begin: 0.3, rrf: 0, norm: 0, name: 1, smooth: 0, lsmooth: 0, slight: 1, pow: 1 }

export const library = (): Library => {
  const files = new Map<string, Shelf>()
  return {
    put(fileId, all) {
      const passages = all.map(({ passage }) => passage)
      files.set(fileId, {
        fileId,
        passages,
        postings: postingsOf(passages.map(readingOf)),
        vectors: vectorsOf(all.map(({ vector }) => vector)),
      })
    },
    remove: (fileId) => void files.delete(fileId),
    search({ query, vector, fileIds, most }) {
      const shelves = fileIds === undefined ? [...files.values()] : [...new Set(fileIds)].flatMap((id) => files.get(id) ?? [])
      const starts: number[] = []
      let rows = 0
      for (const shelf of shelves) {
        starts.push(rows)
        rows += shelf.passages.length
      }
      if (rows === 0) return []
      let total = 0
      for (const { postings } of shelves) for (const length of postings.lengths) total += length
      const mean = total / rows || 1
      const terms = termsOf(query)
      const lex = new Float32Array(rows)
      const fileLex = new Float32Array(shelves.length)
      let possible = 0
      let filePossible = 0
      const idfs = new Map<number, number>()
      for (const [word, weight] of terms) {
        const ranges = shelves.map(({ postings }) => entriesOf(postings, word))
        let df = 0
        let fdf = 0
        for (const [from, to] of ranges) {
          df += to - from
          if (to > from) fdf++
        }
        const idf = weight * Math.log(1 + (rows - df + 0.5) / (df + 0.5))
        const fidf = weight * Math.log(1 + (shelves.length - fdf + 0.5) / (fdf + 0.5))
        idfs.set(word, idf)
        possible += idf
        filePossible += fidf
        for (const [at, [from, to]] of ranges.entries()) {
          if (from === to) continue
          fileLex[at]! += fidf
          const { postings } = shelves[at]!
          for (let e = from; e < to; e++) {
            const row = postings.rows[e]!
            const tf = postings.counts[e]!
            lex[starts[at]! + row]! += (idf * tf * (tune.k1 + 1)) / (tf + tune.k1 * (1 - tune.b + (tune.b * postings.lengths[row]!) / mean))
          }
        }
      }
      const cos = new Float32Array(rows)
      if (vector) for (const [at, { vectors }] of shelves.entries()) if (vectors?.size === vector.length) cosines(vectors, vector, cos, starts[at]!)
      const smooth = (v: Float32Array, part: number) => {
        if (part === 0) return
        const o = v.slice()
        for (const [at, shelf] of shelves.entries())
          for (let r = 0, n = shelf.passages.length; r < n; r++) {
            const i = starts[at]! + r
            const near = Math.max(r > 0 ? o[i - 1]! : 0, r + 1 < n ? o[i + 1]! : 0)
            v[i] = (1 - part) * o[i]! + part * Math.max(o[i]!, near)
          }
      }
      smooth(cos, tune.smooth)
      smooth(lex, tune.lsmooth)
      let maxLex = 0
      let maxCos = -1
      let minCos = 1
      for (let r = 0; r < rows; r++) {
        if (lex[r]! > maxLex) maxLex = lex[r]!
        if (cos[r]! > maxCos) maxCos = cos[r]!
        if (cos[r]! < minCos) minCos = cos[r]!
      }
      const norm = tune.norm === 0 ? possible || 1 : maxLex || 1
      const score = new Float32Array(rows)
      if (tune.rrf > 0) {
        const order = (values: Float32Array) => {
          const ids = Uint32Array.from({ length: rows }, (_, r) => r).sort((a, b) => values[b]! - values[a]! || a - b)
          ids.forEach((r, rank) => {
            if (values[r]! > 0) score[r]! += (values === lex ? 1 - tune.alpha : tune.alpha) / (tune.rrf + rank)
          })
        }
        for (const [at, shelf] of shelves.entries()) for (let r = 0; r < shelf.passages.length; r++) lex[starts[at]! + r]! += (tune.gamma * fileLex[at]! / (filePossible || 1)) * norm
        order(lex)
        order(cos)
      } else {
        for (const [at, shelf] of shelves.entries()) {
          const f = (tune.gamma * fileLex[at]!) / (filePossible || 1)
          for (let r = 0; r < shelf.passages.length; r++) {
            const i = starts[at]! + r
            const c = tune.norm === 2 ? (cos[i]! - minCos) / (maxCos - minCos || 1) : Math.max(0, cos[i]!)
            score[i] = vector ? tune.alpha * c + (1 - tune.alpha) * Math.min(1, lex[i]! / norm) ** tune.pow + f : Math.min(1, lex[i]! / norm) ** tune.pow + f
          }
        }
      }
      const ids = Uint32Array.from({ length: rows }, (_, r) => r).sort((a, b) => score[b]! - score[a]! || a - b)
      return [...ids.slice(0, most)].map((i) => {
        let at = starts.length - 1
        while (starts[at]! > i) at--
        const row = i - starts[at]!
        const passage = shelves[at]!.passages[row]!
        return {
          fileId: shelves[at]!.fileId,
          row,
          snippet: snippetOf(passage.text, (word) => idfs.get(hashOf(word)) ?? 0),
          score: score[i]!,
          page: passage.page,
        }
      })
    },
    get size() {
      let size = 0
      for (const { postings, vectors } of files.values()) size += postings.bytes + (vectors?.values.byteLength ?? 0)
      return size
    },
  }
}

const termsOf = (query: string): ReadonlyMap<number, number> => {
  const terms = new Map<number, number>()
  const add = (word: string, weight: number) => {
    const hash = hashOf(word)
    terms.set(hash, Math.max(weight, terms.get(hash) ?? 0))
  }
  eachWord(query, (word, from, to, part) => {
    const named = from > 0 && /[\p{Lu}\p{N}]/u.test(query.slice(from, to)) && !/^I\b/.test(query.slice(from, to))
    add(word, (part ? tune.part : 1) * (named ? tune.name : 1) * (slight.has(word) ? tune.slight : 1))
    const begin = beginningOf(word)
    if (begin && tune.begin > 0) add(begin, tune.begin * (slight.has(word) ? tune.slight : 1))
  })
  return terms
}

const slight = new Set<string>()
eachWord(
  `a about after all also am an and any anybody anyone anything are as at be because been before being but by can could did do does doing else every for
  from get gets give given go goes had has have having he her his how i if in inside into is it its let like long many may me might more most much must my no not
  of off on once one only or other our out over own per please same say see shall she should since so some somebody someone something somewhere soon still such
  take than that the their them then there these they thing this those through to together too until up upon us very was way we well were what when where whether
  which while who whoever whole whom whose why will with within without would yes yet you your`,
  (word) => void slight.add(word),
)
