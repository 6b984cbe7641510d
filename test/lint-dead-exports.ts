import { dirname, join, normalize } from 'node:path'
import ts from 'typescript-api'

/** Texts by path. */
type Sources = ReadonlyMap<string, string>

/** Where an entry leads: to a file, or by conditions. */
type Entry = string | null | { readonly default: string }

/** The files that package.json exports, as a test of their source's path. */
export const publicFiles = (entries: Readonly<Record<string, Entry>>): ((file: string) => boolean) => {
  const patterns = Object.values(entries).flatMap((entry) => {
    const path = typeof entry === 'string' ? entry : entry?.default
    const source = path?.replace(/^\.\/dist\//, '').replace(/\.js$/, '.ts')
    return source === undefined ? [] : [source.split('*')]
  })
  return (file) => patterns.some(([head = '', tail]) => (tail === undefined ? file === head : file.startsWith(head)))
}

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) &&
  !(ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)

/** Values that a file exports under a name of their own. Types may stand beside the functions that they describe. */
const exportedValues = (file: ts.SourceFile): readonly string[] =>
  file.statements.filter(isExported).flatMap((statement) => {
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
    const isValue = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)
    return isValue && statement.name ? [statement.name.text] : []
  })

/** `path name` of each import; `path *` when a file may use all names of another one. */
const usesOf = (path: string, file: ts.SourceFile): readonly string[] => {
  const found: string[] = []
  const targetOf = (specifier: ts.Node | undefined): string | null =>
    specifier !== undefined && ts.isStringLiteralLike(specifier) && specifier.text.startsWith('.')
      ? normalize(join(dirname(path), specifier.text)).replace(/\.js$/, '.ts')
      : null
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const target = targetOf(node.moduleSpecifier)
      const names = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause
      if (target !== null && names !== undefined && (ts.isNamedImports(names) || ts.isNamedExports(names)))
        for (const { name, propertyName } of names.elements) found.push(`${target} ${(propertyName ?? name).text}`)
      else if (target !== null) found.push(`${target} *`)
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      found.push(`${targetOf(node.arguments[0])} *`)
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      found.push(`${targetOf(node.argument.literal)} *`)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/** `path name` of every exported value that no other file imports. A public file exports for embedders. */
export const deadExports = (sources: Sources, isPublic: (file: string) => boolean): readonly string[] => {
  const parsed = [...sources].map(
    ([path, text]) => [path, ts.createSourceFile(path, text, ts.ScriptTarget.ES2023)] as const,
  )
  const used = new Set(parsed.flatMap(([path, file]) => usesOf(path, file)))
  return parsed
    .filter(([path]) => /^(core|plugins|adapters)\//.test(path) && !isPublic(path) && !used.has(`${path} *`))
    .flatMap(([path, file]) => exportedValues(file).map((name) => `${path} ${name}`))
    .filter((name) => !used.has(name))
}
