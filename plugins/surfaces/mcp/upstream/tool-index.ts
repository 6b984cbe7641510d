import { isJsonObject } from '../../../../core/dialects/json-object.ts'
import { freePace } from '../../../../core/dialects/loop-time.ts'
import { inTurns } from '../../../shared/work-in-turns.ts'
import { type SearchIndex, searchIndex } from '../../../sealed/retrieval/search-index.ts'
import type { ServedTool } from '../served-tools.ts'

/** Characters of a tool's words. */
const mostWords = 4_000

/** `createIssue` and `create_issue` have the same two words. */
const wordsOf = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_.-]+/g, ' ')

/** The names and descriptions of parameters. */
const parametersOf = (schema: object): readonly string[] => {
  const { properties } = schema as { readonly properties?: unknown }
  if (!isJsonObject(properties)) return []
  return Object.entries(properties).flatMap(([name, about]) => {
    const described = isJsonObject(about) ? about['description'] : undefined
    return [wordsOf(name), ...(typeof described === 'string' ? [described] : [])]
  })
}

const textOf = ({ described: { description, inputSchema } }: ServedTool): string =>
  [description, ...parametersOf(inputSchema)].join('\n').slice(0, mostWords)

/** Tools by their words, ranked as the passages of files are. */
export interface ToolIndex {
  /** Takes the place of the tools that the server had. */
  put(server: string, tools: readonly ServedTool[]): Promise<void>
  /** Best first, of these tools alone. */
  find(tools: readonly ServedTool[], query: string, most: number): Promise<readonly ServedTool[]>
}

export const toolIndex = (): ToolIndex => {
  const index: SearchIndex = searchIndex()
  const known = new Map<string, readonly ServedTool[]>()
  return {
    async put(server, tools) {
      const [before, after] = [new Set(known.get(server)), new Set(tools)]
      for (const tool of before) if (!after.has(tool)) index.remove(tool.described.name)
      const pace = freePace()
      for (const tool of tools.filter((tool) => !before.has(tool))) {
        const heading = wordsOf(tool.own)
        const passage = { text: textOf(tool) || heading, heading, page: null }
        const about = { title: wordsOf(tool.server) }
        await inTurns(index.put(tool.described.name, [{ passage, vector: null }], about), pace)
      }
      known.set(server, tools)
    },
    async find(tools, query, most) {
      const byName = new Map(tools.map((tool) => [tool.described.name, tool]))
      const wanted = { query, vector: null, fileIds: [...byName.keys()], most, characters: 100 }
      const found = await inTurns(index.search(wanted), freePace())
      return found.flatMap(({ fileId, score }) => (score > 0 ? [byName.get(fileId)!] : []))
    },
  }
}
