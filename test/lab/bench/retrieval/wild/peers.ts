import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A passage as every engine is given it, with the words of its file's name and its heading in one field. */
export interface Given {
  readonly heading: string
  readonly text: string
}

/** The rows of the passages that an engine ranks first. */
export type Peer = (query: string, most: number) => readonly number[]

const folder = join(tmpdir(), 'sealgate-bench-retrieval', 'peers')
const packages = { lunr: '2.3.9', minisearch: '7.2.0' }

interface LunrBuilder {
  ref(name: string): void
  field(name: string): void
  add(document: object): void
}
interface Lunr {
  (build: (this: LunrBuilder) => void): {
    query(ask: (query: { term(tokens: unknown): void }) => void): readonly { readonly ref: string }[]
  }
  tokenizer(text: string): unknown
}
interface MiniSearch {
  addAll(documents: readonly object[]): void
  search(query: string): readonly { readonly id: number }[]
}

/** lunr and minisearch as they come, with nothing set but their fields. */
export const peersOf = (passages: readonly Given[]): Readonly<Record<keyof typeof packages, Peer>> => {
  const near = createRequire(join(installed(), 'peers.js'))
  const lunr = near('lunr') as Lunr
  const Mini = near('minisearch') as new (options: object) => MiniSearch
  const index = lunr(function () {
    this.ref('id')
    this.field('heading')
    this.field('text')
    for (const [id, passage] of passages.entries()) this.add({ id, ...passage })
  })
  const mini = new Mini({ fields: ['heading', 'text'] })
  mini.addAll(passages.map((passage, id) => ({ id, ...passage })))
  return {
    lunr: (query, most) =>
      index
        .query((builder) => builder.term(lunr.tokenizer(query)))
        .slice(0, most)
        .map(({ ref }) => Number(ref)),
    minisearch: (query, most) =>
      mini
        .search(query)
        .slice(0, most)
        .map(({ id }) => id),
  }
}

const installed = (): string => {
  if (Object.keys(packages).every((name) => existsSync(join(folder, 'node_modules', name)))) return folder
  mkdirSync(folder, { recursive: true })
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`)
  execFileSync('npm', ['install', '--silent', '--no-save', '--prefix', folder, ...wanted], { stdio: 'ignore' })
  return folder
}
