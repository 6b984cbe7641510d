import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import ts from 'typescript-api'

/** A check of a verifier, and the text that stands in its place once it is removed. */
export interface Removal {
  /** Under plugins/sealed/evidence. */
  readonly file: string
  readonly from: number
  readonly to: number
  readonly instead: string
  readonly line: number
  /** The check in one line. */
  readonly text: string
  /** The same for the same check, wherever it moves in its file. */
  readonly mark: string
}

type Found = Pick<Removal, 'from' | 'to' | 'instead'>

const calls = (node: ts.Node, names: RegExp): boolean => {
  const call = ts.isAwaitExpression(node) ? node.expression : node
  return ts.isCallExpression(call) && names.test(call.expression.getText())
}
const checking = /^(?:demand|mustBeZero|check[A-Z]\w*)$/
const refusing = /^(?:refuse|malformed)$/

/** Whether a statement refuses and does nothing else. */
const refuses = (node: ts.Statement): boolean => {
  if (ts.isBlock(node)) return node.statements.length === 1 && refuses(node.statements[0]!)
  return ts.isReturnStatement(node) && node.expression !== undefined && calls(node.expression, refusing)
}

/** Whether the result of `checks.run(name, () => …)` is thrown away, so that its work can become nothing. */
const isUnused = (work: ts.ArrowFunction): boolean => {
  const run = work.parent
  if (!ts.isCallExpression(run) || run.expression.getText() !== 'checks.run') return false
  const above = ts.isAwaitExpression(run.parent) ? run.parent.parent : run.parent
  return ts.isExpressionStatement(above)
}

/** The text in the place of a node without its check; null for a node that checks nothing. */
const insteadOf = (node: ts.Node): string | null => {
  if (ts.isExpressionStatement(node)) return calls(node.expression, checking) ? ';' : null
  if (ts.isIfStatement(node)) return node.elseStatement === undefined && refuses(node.thenStatement) ? ';' : null
  if (ts.isReturnStatement(node)) return ts.isCaseOrDefaultClause(node.parent) && refuses(node) ? 'break' : null
  if (ts.isConditionalExpression(node)) {
    if (calls(node.whenFalse, refusing)) return `(${node.whenTrue.getText()})`
    return calls(node.whenTrue, refusing) ? `(${node.whenFalse.getText()})` : null
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
    return calls(node.right, refusing) ? `(${node.left.getText()})` : null
  if (ts.isArrowFunction(node.parent) && node.parent.body === node && calls(node, checking))
    return calls(node, /^demand$/) || isUnused(node.parent) ? 'undefined' : null
  return null
}

const foundIn = (source: string): readonly Found[] => {
  const found: Found[] = []
  const look = (node: ts.Node): void => {
    const instead = node.parent === undefined ? null : insteadOf(node)
    if (instead !== null) found.push({ from: node.getStart(), to: node.getEnd(), instead })
    ts.forEachChild(node, look)
  }
  look(ts.createSourceFile('it.ts', source, ts.ScriptTarget.ES2023, true))
  return found
}

const folder = 'plugins/sealed/evidence'

export const sourceOf = (file: string): string => readFileSync(`${folder}/${file}`, 'utf8')

const removalsIn = (file: string): readonly Removal[] => {
  const source = sourceOf(file)
  const seen = new Map<string, number>()
  return foundIn(source).map((finding) => {
    const text = source.slice(finding.from, finding.to).replaceAll(/\s+/g, ' ')
    const times = seen.get(text) ?? 0
    seen.set(text, times + 1)
    const hash = createHash('sha256').update(JSON.stringify([file, text, times]))
    return {
      file,
      ...finding,
      text,
      line: source.slice(0, finding.from).split('\n').length,
      mark: hash.digest('hex').slice(0, 12),
    }
  })
}

/** Every check of plugins/sealed/evidence that can be removed alone. */
export const removals = (): readonly Removal[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .flatMap(removalsIn)

/** The source without the check. */
export const without = ({ file, from, to, instead }: Removal): string => {
  const source = sourceOf(file)
  return `${source.slice(0, from)}${instead}${source.slice(to)}`
}
