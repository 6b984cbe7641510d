import { type CompilerOptions, ModuleKind, ScriptTarget, transpileModule } from 'typescript-api'

/** How the compiler writes the modules of this package. */
export const moduleForm: CompilerOptions = {
  module: ModuleKind.ESNext,
  target: ScriptTarget.ES2023,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
}

/** A module as JavaScript; its types are not checked. */
export const compiled = (source: string): string => transpileModule(source, { compilerOptions: moduleForm }).outputText
