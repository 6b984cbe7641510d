import ts from 'typescript-api'

/** Words that stand in the place of a noun. Each sentence of a comment names its subject. */
const banned: readonly RegExp[] = [
  /\bwho(?:m)?ever\b/i,
  /\b(?:is|are|was|were|be|been|being) told\b/i,
  /\b(?:some|any)body\b/i,
  /\bthose who\b/i,
  /\bin vain\b/i,
  /\bas such\b/i,
  /(?:^|[.:;] )one (?:that|who)\b/i,
  /(?:^|[.:;] )(?:the )?one which\b/i,
]

/** The comments of a text, each with its line from 1 and without its marks. */
export const commentsOf = (text: string): readonly { readonly line: number; readonly words: string }[] => {
  const file = ts.createSourceFile('comments.ts', text, ts.ScriptTarget.ES2023, true)
  const found = new Map<number, { readonly line: number; readonly words: string }>()
  const visit = (node: ts.Node): void => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ]
    for (const { pos, end } of ranges) {
      const bare = text
        .slice(pos, end)
        .replace(/^\/\*\*?|\*\/$|^\/\/|^\s*\*(?!\/)/gm, '')
        .replace(/\s+/g, ' ')
      found.set(pos, { line: file.getLineAndCharacterOfPosition(pos).line + 1, words: bare.trim() })
    }
    for (const child of node.getChildren(file)) visit(child)
  }
  visit(file)
  return [...found.values()]
}

/** Banned words in comments, each with the line on which its comment begins. */
export const oldWords = (text: string): readonly { readonly line: number; readonly words: string }[] => {
  // Most texts hold none of the words, and need no syntax tree. A sentence may begin after any mark of a comment.
  const flat = text.replace(/[\s*/]+/g, ' ')
  const possible = banned.filter((word) => new RegExp(word.source.replace('(?:^|[.:;] )', ''), word.flags).test(flat))
  if (possible.length === 0) return []
  return commentsOf(text).flatMap(({ line, words }) =>
    possible.flatMap((word) => {
      const match = word.exec(words)
      return match === null ? [] : [{ line, words: match[0].replace(/^[.:;] /, '') }]
    }),
  )
}
