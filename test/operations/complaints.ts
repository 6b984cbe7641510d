import ts from 'typescript-api'
import type { Manifest } from './files.ts'

const options: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ['lib.es5.d.ts'],
  types: [],
  skipLibCheck: true,
}

/** What the compiler says of each as a literal of its kind: it knows every field, its type, and that there is no other. */
export const complaints = (manifests: readonly Manifest[]): readonly string[] => {
  const texts = new Map(
    manifests.map((manifest, at) => {
      const [group, version] = manifest.apiVersion.includes('/')
        ? manifest.apiVersion.split('/')
        : ['core', manifest.apiVersion]
      const from = `kubernetes-types/${group!.replace(/\.k8s\.io$/, '')}/${version}`
      const literal = JSON.stringify(manifest, null, 1)
      const text = `import type { ${manifest.kind} } from '${from}'\nexport const it: ${manifest.kind} = ${literal}\n`
      return [`${process.cwd()}/manifest-${at}.ts`, text]
    }),
  )
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (name) => texts.has(name) || fileExists(name)
  host.readFile = (name) => texts.get(name) ?? readFile(name)
  host.getSourceFile = (name, language) =>
    texts.has(name) ? ts.createSourceFile(name, texts.get(name)!, language) : getSourceFile(name, language)
  const program = ts.createProgram([...texts.keys()], options, host)
  return [...program.getGlobalDiagnostics(), ...[...texts.keys()].flatMap((name) => of(program, name))].map(
    ({ file, start, messageText }) => {
      const line = file?.text.slice(start).replace(/\n[\s\S]*/, '') ?? ''
      return `${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    },
  )
}

const of = (program: ts.Program, name: string): readonly ts.Diagnostic[] => {
  const file = program.getSourceFile(name)!
  return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
}
