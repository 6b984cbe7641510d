import ts from 'typescript-api'

export interface Found {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** Null where the code tells nothing of the pattern. */
  readonly pattern: RegExp | null
  /** Whether a part comes from elsewhere than a constant of the code. */
  readonly isOpen: boolean
  /** Where a schema checks a text by it: true, or the name of the constant that it may be. */
  readonly checks: boolean | string
}

interface Text {
  readonly text: string
  readonly isOpen: boolean
}

/** What the constants of a file begin as, by their names. */
type Constants = ReadonlyMap<string, ts.Expression>

const constantsOf = (file: ts.SourceFile): Constants =>
  new Map(
    file.statements
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => declarationList.declarations)
      .flatMap(({ name, initializer }) =>
        ts.isIdentifier(name) && initializer !== undefined ? [[name.text, initializer] as const] : [],
      ),
  )

/** What an expression is as a text; null where the code does not tell. */
const textOf = (node: ts.Node, constants: Constants): Text | null => {
  if (ts.isStringLiteralLike(node)) return { text: node.text, isOpen: false }
  if (ts.isTemplateExpression(node))
    return node.templateSpans.reduce(
      ({ text, isOpen }: Text, { expression, literal }): Text => {
        // A value from elsewhere stands in a template as one letter.
        const part = textOf(expression, constants) ?? { text: 'a', isOpen: true }
        return { text: text + part.text + literal.text, isOpen: isOpen || part.isOpen }
      },
      { text: node.head.text, isOpen: false },
    )
  if (ts.isCallExpression(node)) return joinedText(node, constants)
  const initializer = ts.isIdentifier(node) ? constants.get(node.text) : undefined
  return initializer === undefined ? null : textOf(initializer, constants)
}

/** Of a list of constants that is joined where it stands. */
const joinedText = ({ expression, arguments: [mark] }: ts.CallExpression, constants: Constants): Text | null => {
  if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== 'join') return null
  if (!ts.isArrayLiteralExpression(expression.expression) || mark === undefined) return null
  const between = textOf(mark, constants)
  const parts = expression.expression.elements.map((node) => textOf(node, constants))
  if (between === null || parts.some((part) => part === null)) return null
  return {
    text: parts.map((part) => part?.text).join(between.text),
    isOpen: parts.some((part) => part?.isOpen),
  }
}

const literalOf = (text: string): RegExp => {
  const end = text.lastIndexOf('/')
  return new RegExp(text.slice(1, end), text.slice(end + 1))
}

const madeOf = (
  { arguments: given }: ts.NewExpression | ts.CallExpression,
  constants: Constants,
): Pick<Found, 'pattern' | 'isOpen'> => {
  const [source, flags] = [given?.[0], given?.[1]].map((node) =>
    node === undefined ? { text: '', isOpen: false } : textOf(node, constants),
  )
  if (!source || !flags) return { pattern: null, isOpen: true }
  return { pattern: new RegExp(source.text, flags.text), isOpen: source.isOpen || flags.isOpen }
}

/** A call such as `v.regex(…)`. */
const isCheck = (node: ts.Node): node is ts.CallExpression =>
  ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'regex'

/** Constants by which schemas of a file check texts: with their file where they are its own, else by the name of an import. */
export const checkedNames = (path: string, code: string): readonly string[] => {
  const file = ts.createSourceFile(path, code, ts.ScriptTarget.ES2023, true)
  const constants = constantsOf(file)
  const names: string[] = []
  const visit = (node: ts.Node): void => {
    const [pattern] = isCheck(node) ? node.arguments : []
    if (pattern !== undefined && ts.isIdentifier(pattern)) {
      const { text } = pattern
      if (constants.has(text)) names.push(`${path} ${text}`)
      else if (new RegExp(`import[^;]*\\b${text}\\b`).test(code)) names.push(text)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return names
}

/** Every regular expression that a file writes or makes. */
export const patternsIn = (path: string, code: string): readonly Found[] => {
  const file = ts.createSourceFile(path, code, ts.ScriptTarget.ES2023, true)
  const constants = constantsOf(file)
  const found: Found[] = []
  const add = (node: ts.Node, made: Pick<Found, 'pattern' | 'isOpen'>): void => {
    const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1
    const { parent } = node
    const checks = ts.isVariableDeclaration(parent) ? parent.name.getText(file) : isCheck(parent)
    found.push({ file: path, line, ...made, checks })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) add(node, { pattern: literalOf(node.text), isOpen: false })
    else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText(file) === 'RegExp')
      add(node, madeOf(node, constants))
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}
