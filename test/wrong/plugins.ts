import { readFileSync } from 'node:fs'
import { soundConfiguration } from './configurations.ts'

/** A plugin of an operator's own that is wrong in one thing. */
export interface WrongPlugin {
  readonly name: string
  /** The module. */
  readonly text: string
  /** The configuration that names the module. */
  place(path: string): object
  readonly sentence: string
}

const core = new URL('../../core/', import.meta.url).href
const ending = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const valibot = import.meta.resolve('valibot')

const imports = `import { plugin } from ${JSON.stringify(`${core}plugin${ending}`)}
import * as v from ${JSON.stringify(valibot)}
`
const portOf = (file: string, name: string) =>
  `import { ${name} } from ${JSON.stringify(`${core}ports/${file}${ending}`)}\n`

const moduleOf = (file: string, port: string, create: string) =>
  `${imports}${portOf(file, port)}export default plugin({ port: ${port}, name: 'own', create: () => ${create} })\n`

const { providers } = soundConfiguration

/** What names the module in a configuration, by what the module is taken for. */
const places = {
  tool: (path: string) => ({ tools: { [path]: {} } }),
  guard: (path: string) => ({ guards: { [path]: {} } }),
  reader: (path: string) => ({ readers: { [path]: {} } }),
  provider: (path: string) => ({ providers: { ...providers, own: { use: path } } }),
  surface: (path: string) => ({ surfaces: [path] }),
  rows: (path: string) => ({ storage: { metadata: { use: path } } }),
  evidence: (path: string) => ({ enclave: { connect: ['/nowhere'], evidence: { use: path } } }),
}

/** A whole module, or what its plugin creates for a port. */
type Wrong = { readonly name: string; readonly as: keyof typeof places; readonly sentence: string } & (
  { readonly text: string } | { readonly fits: string; readonly port: string; readonly create: string }
)

const rows = JSON.parse(readFileSync('test/wrong/plugins.json', 'utf8')) as readonly Wrong[]

export const wrongPlugins: readonly WrongPlugin[] = rows.map((row) => ({
  name: row.name,
  text: 'text' in row ? `${imports}${row.text}` : moduleOf(row.fits, row.port, row.create),
  place: (path) => ({ ...soundConfiguration, ...places[row.as](path) }),
  sentence: row.sentence,
}))
