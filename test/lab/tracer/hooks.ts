import type { LoadHook } from 'node:module'
import ts from 'typescript-api'

/** The source file of a built one; null for packages and tests. */
const sourceOf = (url: string): string | null => {
  const [, file] = /\/dist\/((?:core|plugins|adapters)\/.+)\.js$/.exec(url) ?? []
  return file === undefined ? null : `${file}.ts`
}

/** The text with a call at the beginning of each function, which names the file. */
export const traced = (text: string, file: string): string => {
  const mark = `globalThis.visited(${JSON.stringify(file)})`
  const added: { readonly at: number; readonly text: string }[] = []
  const look = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const body = node.body as ts.Node
      if (ts.isBlock(body)) added.push({ at: body.getStart() + 1, text: `${mark};` })
      else added.push({ at: body.getStart(), text: `(${mark},` }, { at: body.getEnd(), text: ')' })
    }
    ts.forEachChild(node, look)
  }
  look(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS))
  let end = text.length
  const pieces: string[] = []
  for (const { at, text: more } of added.toSorted((one, other) => other.at - one.at)) {
    pieces.push(text.slice(at, end), more)
    end = at
  }
  return [text.slice(0, end), ...pieces.reverse()].join('')
}

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context)
  const file = sourceOf(url)
  if (file === null || loaded.format !== 'module' || !loaded.source) return loaded
  return { ...loaded, source: traced(Buffer.from(loaded.source as Uint8Array).toString(), file) }
}
