import { entriesOf, hashOf, type Postings, postingsOf } from './postings.ts'
import { termsOf } from './query.ts'
import { type Passage, readingOf } from './split.ts'
import { around, snippetOf } from './snippet.ts'
import { cosines, type Vectors, vectorsOf } from './vectors.ts'

export interface Placed {
  readonly passage: Passage
  readonly vector: Float32Array | null
}

export interface Found {
  readonly fileId: string
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
  readonly titles: ReadonlySet<number>
}

export const tune = {
  k1: 1.2,
  b: 0.5,
  alpha: 0.6,
  gamma: 0.4,
  rrf: 0,
  norm: 0,
  lsmooth: 0,
  windows: true,
  title: true,
  pow: 1,
  tname: 1,
  share: 0.05,
}

export const library = (): Library => {
  const files = new Map<string, Shelf>()
  return {
    put(fileId, all) {
      const passages = all.map(({ passage }) => passage)
      const title = passages[0]?.heading ?? null
      files.set(fileId, {
        fileId,
        passages,
        titles: new Set(title === null ? [] : postingsOf([title]).words),
        postings: postingsOf(
          passages.map((p) =>
            tune.title && title !== null && title !== p.heading ? `${title}\n${readingOf(p)}` : readingOf(p),
          ),
        ),
        vectors: vectorsOf(all.map(({ vector }) => vector)),
      })
    },
    remove: (fileId) => void files.delete(fileId),
    search({ query, vector, fileIds, most }) {
      const shelves =
        fileIds === undefined ? [...files.values()] : [...new Set(fileIds)].flatMap((id) => files.get(id) ?? [])
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
      for (const [word, own] of terms) {
        let weight = own
        if (weight === 1 && tune.tname > 1) {
          const n = shelves.reduce((sum, { titles }) => sum + (titles.has(word) ? 1 : 0), 0)
          if (n > 0 && n <= Math.max(2, shelves.length * tune.share)) weight = tune.tname
        }
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
            lex[starts[at]! + row]! +=
              (idf * tf * (tune.k1 + 1)) / (tf + tune.k1 * (1 - tune.b + (tune.b * postings.lengths[row]!) / mean))
          }
        }
      }
      const cos = new Float32Array(rows)
      if (vector)
        for (const [at, { vectors }] of shelves.entries())
          if (vectors?.size === vector.length) cosines(vectors, vector, cos, starts[at]!)
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
      smooth(lex, tune.lsmooth)
      let maxLex = 0
      let maxCos = -1
      let minCos = 1
      for (let r = 0; r < rows; r++) {
        if (lex[r]! > maxLex) maxLex = lex[r]!
        if (cos[r]! > maxCos) maxCos = cos[r]!
        if (cos[r]! < minCos) minCos = cos[r]!
      }
      const norm = tune.norm === 0 || tune.norm === 2 ? possible || 1 : maxLex || 1
      const score = new Float32Array(rows)
      if (tune.rrf > 0) {
        for (const [at, shelf] of shelves.entries())
          for (let r = 0; r < shelf.passages.length; r++)
            lex[starts[at]! + r]! += ((tune.gamma * fileLex[at]!) / (filePossible || 1)) * norm
        const order = (values: Float32Array) => {
          const ids = Uint32Array.from({ length: rows }, (_, r) => r).sort((a, b) => values[b]! - values[a]! || a - b)
          ids.forEach((r, rank) => {
            if (values[r]! > 0) score[r]! += (values === lex ? 1 - tune.alpha : tune.alpha) / (tune.rrf + rank)
          })
        }
        order(lex)
        order(cos)
      } else {
        for (const [at, shelf] of shelves.entries()) {
          const f = (tune.gamma * fileLex[at]!) / (filePossible || 1)
          for (let r = 0; r < shelf.passages.length; r++) {
            const i = starts[at]! + r
            const c = tune.norm >= 2 ? (cos[i]! - minCos) / (maxCos - minCos || 1) : Math.max(0, cos[i]!)
            const l = Math.min(1, lex[i]! / norm) ** tune.pow
            score[i] = vector ? tune.alpha * c + (1 - tune.alpha) * l + f : l + f
          }
        }
      }
      const ids = Uint32Array.from({ length: rows }, (_, r) => r).sort((a, b) => score[b]! - score[a]! || a - b)
      const covered = new Set<number>()
      const found: Found[] = []
      const worth = (word: string) => idfs.get(hashOf(word)) ?? 0
      for (const i of ids) {
        if (found.length === most) break
        if (covered.has(i)) continue
        let at = starts.length - 1
        while (starts[at]! > i) at--
        const { passages, fileId } = shelves[at]!
        const row = i - starts[at]!
        const passage = passages[row]!
        const place = tune.windows
          ? around(passages, row, (other) => score[starts[at]! + other]!)
          : { first: row, last: row, text: passage.text }
        for (let r = place.first; r <= place.last; r++) covered.add(starts[at]! + r)
        found.push({ fileId, snippet: snippetOf(place.text, worth), score: score[i]!, page: passage.page })
      }
      return found
    },
    get size() {
      let size = 0
      for (const { postings, vectors } of files.values()) size += postings.bytes + (vectors?.values.byteLength ?? 0)
      return size
    },
  }
}
