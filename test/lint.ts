import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import ts from 'typescript-api'
import { longFunctions } from './lint-long-functions.ts'
import { openSpreads } from './lint-spreads.ts'

export interface Fault {
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly words: string
}

const mostLines = 60

/** From the root of the house. */
const pathOf = ({ fileName }: ts.SourceFile): string => relative('.', fileName)

const lineOf = (file: ts.SourceFile, at: number): number => file.getLineAndCharacterOfPosition(at).line + 1

/** A subtest of tap's is awaited by its parent. */
const isSubtest = (node: ts.Expression): boolean =>
  ts.isCallExpression(node) && /^t\.\w+$/.test(node.expression.getText())

/** Whether a rejection of the promise has somebody who hears it. */
const isHandled = (node: ts.Expression): boolean => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false
  const { name, expression } = node.expression
  if (name.text === 'catch') return node.arguments.length > 0
  if (name.text === 'then') return node.arguments.length > 1
  return name.text === 'finally' && isHandled(expression)
}

const isPromise = (checker: ts.TypeChecker, node: ts.Expression): boolean => {
  const type = checker.getTypeAtLocation(node)
  const parts = type.isUnion() ? type.types : [type]
  return parts.some((part) => {
    const then = part.getProperty('then')
    return then !== undefined && checker.getTypeOfSymbolAtLocation(then, node).getCallSignatures().length > 0
  })
}

/** Statements that drop a promise: nobody waits for it, and nobody hears that it fails. */
export const floatingPromises = (file: ts.SourceFile, checker: ts.TypeChecker): readonly Fault[] => {
  const faults: Fault[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node)) {
      const { expression } = node
      const isKept =
        ts.isVoidExpression(expression) || ts.isAwaitExpression(expression) || ts.isBinaryExpression(expression)
      if (!isKept && !isHandled(expression) && !isSubtest(expression) && isPromise(checker, expression))
        faults.push({ file: pathOf(file), line: lineOf(file, node.getStart()), words: 'A promise floats' })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return faults
}

const nameOf = (node: ts.Node): string => {
  const { parent } = node
  const named = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) ? node : parent
  return (named as { readonly name?: ts.Node }).name?.getText() ?? 'a function'
}

export const countNodes = (file: ts.SourceFile, counts: (node: ts.Node) => boolean): number => {
  let sum = 0
  const visit = (node: ts.Node): void => {
    if (counts(node)) sum++
    ts.forEachChild(node, visit)
  }
  visit(file)
  return sum
}

/** Places where a file claims against its types that a value is there. */
export const nonNullAssertions = (file: ts.SourceFile): number => countNodes(file, ts.isNonNullExpression)

/** Functions of more than 60 lines by `file name`, without those that create a plugin. */
export const functionLengths = (
  file: ts.SourceFile,
): ReadonlyMap<string, { readonly lines: number; readonly line: number }> => {
  const found = new Map<string, { readonly lines: number; readonly line: number }>()
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const line = lineOf(file, node.getStart())
      const lines = lineOf(file, node.end) - line + 1
      const name = nameOf(node)
      if (lines > mostLines && name !== 'create') found.set(`${pathOf(file)} ${name}`, { lines, line })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

const tooLong = (file: ts.SourceFile): readonly Fault[] =>
  [...functionLengths(file)]
    .filter(([name, { lines }]) => lines > (longFunctions[name] ?? mostLines))
    .map(([name, { lines, line }]) => ({
      file: pathOf(file),
      line,
      words: `${name.split(' ')[1]} has ${lines} lines, and may have ${longFunctions[name] ?? mostLines}`,
    }))

const isOpen = (checker: ts.TypeChecker, type: ts.Type): boolean => {
  if (type.symbol?.name === 'IncomingHttpHeaders') return true
  const index = checker.getIndexInfoOfType(type, ts.IndexKind.String)
  return index !== undefined && (index.type.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) !== 0
}

/** The object whose members this copies, all or the rest of them; null for anything else. */
const copied = (node: ts.Node): ts.Node | null => {
  if (ts.isSpreadAssignment(node)) return node.expression
  return ts.isBindingElement(node) && node.dotDotDotToken && ts.isObjectBindingPattern(node.parent) ? node.parent : null
}

/** Copies of objects whose members nobody knows, by a spread or as the rest of a pattern. */
export const spreadsOfOpen = (file: ts.SourceFile, checker: ts.TypeChecker): readonly number[] => {
  const lines: number[] = []
  const visit = (node: ts.Node): void => {
    const source = copied(node)
    if (source !== null) {
      const type = checker.getTypeAtLocation(source)
      const parts = type.isUnionOrIntersection() ? type.types : [type]
      if (parts.some((part) => isOpen(checker, part))) lines.push(lineOf(file, node.getStart()))
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return lines
}

/** Files on the way of a request; descriptions of the interface and the console's page are none. */
const onTheWay =
  /^(core|plugins\/shared\/dialects|plugins\/surfaces(?!\/(docs|console)\/))\/(?!.*(chapter|described|tool-schema))/

const tooOpen = (file: ts.SourceFile, checker: ts.TypeChecker): readonly Fault[] => {
  const name = pathOf(file)
  const lines = onTheWay.test(name) ? spreadsOfOpen(file, checker) : []
  const most = openSpreads[name] ?? 0
  const words = `${lines.length} spreads of objects whose members nobody knows, and may have ${most}`
  return lines.length > most ? [{ file: name, line: lines[0] ?? 1, words }] : []
}

/** Lines that declare a name which says nothing of what it holds. */
export const emptyNames = (file: ts.SourceFile): readonly number[] => {
  const lines: number[] = []
  const visit = (node: ts.Node): void => {
    const declares =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isPropertySignature(node)
    if (declares && /^its?$/.test(node.name.getText())) lines.push(lineOf(file, node.name.getStart()))
    ts.forEachChild(node, visit)
  }
  visit(file)
  return lines
}

/** The sources of the house, with their types. */
export const program = (names?: readonly string[]): ts.Program => {
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)) as { config: object }
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, '.')
  const options: ts.CompilerOptions = { ...parsed.options, noEmit: true, incremental: false }
  const host = ts.createCompilerHost(options, true)
  return ts.createProgram(names ?? parsed.fileNames, options, host)
}

/** The faults of these files, or of all. */
export const lint = (names?: readonly string[]): readonly Fault[] => {
  const known = names?.filter((name) => /\.ts$/.test(name) && existsSync(name))
  if (known?.length === 0) return []
  const whole = program(known)
  const checker = whole.getTypeChecker()
  const wanted = known && new Set(known)
  return whole
    .getSourceFiles()
    .filter((file) => !file.isDeclarationFile && (wanted === undefined || wanted.has(pathOf(file))))
    .flatMap((file) => [
      ...floatingPromises(file, checker),
      ...tooOpen(file, checker),
      ...emptyNames(file).map((line) => ({ file: pathOf(file), line, words: 'A name says nothing of what it holds' })),
      ...(/^(core|plugins|adapters|examples)\//.test(pathOf(file)) ? tooLong(file) : []),
    ])
}
