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

const tool = (create: string) => moduleOf('tool', 'Tool', create)
const guard = (create: string) => moduleOf('guard', 'Guard', create)

const asTool = (path: string) => ({ ...soundConfiguration, tools: { [path]: {} } })
const asGuard = (path: string) => ({ ...soundConfiguration, guards: { [path]: {} } })
const asReader = (path: string) => ({ ...soundConfiguration, readers: { [path]: {} } })
const asProvider = (path: string) => ({
  ...soundConfiguration,
  providers: { ...soundConfiguration.providers, own: { use: path } },
})
const asSurface = (path: string) => ({ ...soundConfiguration, surfaces: [path] })
const asRows = (path: string) => ({ ...soundConfiguration, storage: { metadata: { use: path } } })
const asEvidence = (path: string) => ({
  ...soundConfiguration,
  enclave: { connect: ['/nowhere'], evidence: { use: path } },
})

const run = `async run() {}`

const cases: readonly (readonly [name: string, text: string, place: WrongPlugin['place'], sentence: string])[] = [
  [
    'throws',
    `throw new Error('no licence')`,
    asTool,
    "22:3 tools./throws.mjs: /throws.mjs can't be loaded: no licence",
  ],
  [
    'broken',
    `export default {`,
    asTool,
    "22:3 tools./broken.mjs: /broken.mjs can't be loaded: Unexpected end of input",
  ],
  [
    'imports-nothing',
    `import './not-there.mjs'\nexport default {}`,
    asTool,
    '22:3 tools./imports-nothing.mjs: /imports-nothing.mjs is not found, or a module that it imports is not',
  ],
  [
    'named-export',
    `${imports}export const own = plugin({})`,
    asTool,
    '22:3 tools./named-export.mjs: /named-export.mjs does not export a plugin by default; write export default plugin({ … })',
  ],
  [
    'no-plugin',
    `export default { name: 'own' }`,
    asTool,
    '22:3 tools./no-plugin.mjs: /no-plugin.mjs does not export a plugin by default; write export default plugin({ … })',
  ],
  ['guard-as-tool', guard(`({})`), asTool, '22:3 tools./guard-as-tool.mjs: /guard-as-tool.mjs fits Guard, not Tool'],
  [
    'other-copy',
    `export default { port: { name: 'Tool', key: Symbol('Tool'), many: true, members: {} }, name: 'own', create: () => ({}) }`,
    asTool,
    '22:3 tools./other-copy.mjs: /other-copy.mjs fits Tool of another installed copy of sealgate; it must import the running copy',
  ],
  [
    'tool-without-name',
    tool(`({ description: 'D', kind: 'simple', params: v.object({}), ${run} })`),
    asTool,
    '22:3 tools./tool-without-name.mjs: /tool-without-name.mjs: name of its Tool is missing; expected a text',
  ],
  [
    'tool-without-description',
    tool(`({ name: 'own', kind: 'simple', params: v.object({}), ${run} })`),
    asTool,
    '22:3 tools./tool-without-description.mjs: /tool-without-description.mjs: description of its Tool is missing; expected a text',
  ],
  [
    'tool-without-params',
    tool(`({ name: 'own', description: 'D', kind: 'simple', ${run} })`),
    asTool,
    '22:3 tools./tool-without-params.mjs: /tool-without-params.mjs: params of its Tool is missing; expected a schema of valibot',
  ],
  [
    'tool-with-json-params',
    tool(`({ name: 'own', description: 'D', kind: 'simple', params: { type: 'object' }, ${run} })`),
    asTool,
    '22:3 tools./tool-with-json-params.mjs: /tool-with-json-params.mjs: params of its Tool is wrong; expected a schema of valibot',
  ],
  [
    'tool-without-run',
    tool(`({ name: 'own', description: 'D', kind: 'simple', params: v.object({}) })`),
    asTool,
    '22:3 tools./tool-without-run.mjs: /tool-without-run.mjs: run of its Tool is missing; expected a function',
  ],
  [
    'tool-of-no-kind',
    tool(`({ name: 'own', description: 'D', kind: 'clear', params: v.object({}), ${run} })`),
    asTool,
    '22:3 tools./tool-of-no-kind.mjs: /tool-of-no-kind.mjs: kind of its Tool is wrong; expected one of simple, makes-file, reads-file, retrieval',
  ],
  [
    'tool-by-promise',
    tool(`(async () => ({}))()`),
    asTool,
    '22:3 tools./tool-by-promise.mjs: /tool-by-promise.mjs: create gives a promise; expected the Tool itself',
  ],
  [
    'tool-of-nothing',
    tool(`undefined`),
    asTool,
    '22:3 tools./tool-of-nothing.mjs: /tool-of-nothing.mjs: create gives no Tool; expected an object',
  ],
  [
    'tool-that-throws',
    tool(`{ throw new TypeError('no disk') }`),
    asTool,
    '22:3 tools./tool-that-throws.mjs: /tool-that-throws.mjs: no disk',
  ],
  [
    'guard-without-begin',
    guard(`({ name: 'own', marks: [] })`),
    asGuard,
    '22:3 guards./guard-without-begin.mjs: /guard-without-begin.mjs: begin of its Guard is missing; expected a function',
  ],
  [
    'guard-without-marks',
    guard(`({ name: 'own', begin: () => ({}) })`),
    asGuard,
    '22:3 guards./guard-without-marks.mjs: /guard-without-marks.mjs: marks of its Guard is missing; expected a list',
  ],
  [
    'reader-without-read',
    moduleOf('reader', 'Reader', `({ name: 'own', kind: 'document', fits: () => false })`),
    asReader,
    '22:3 readers./reader-without-read.mjs: /reader-without-read.mjs: read of its Reader is missing; expected a function',
  ],
  [
    'provider-without-models',
    moduleOf('upstream', 'Upstream', `({ name: 'own', async chat() {} })`),
    asProvider,
    '10:3 providers.own: /provider-without-models.mjs: models of its Upstream is missing; expected a function',
  ],
  [
    'surface-without-routes',
    moduleOf('surface', 'Surface', `({ name: 'own', async chapter() {} })`),
    asSurface,
    '22:3 surfaces.0: /surface-without-routes.mjs: routes of its Surface is missing; expected a list',
  ],
  [
    'rows-without-list',
    moduleOf('metadata-store', 'MetadataStore', `({ get() {}, create() {}, update() {}, add() {}, remove() {} })`),
    asRows,
    '22:3 storage.metadata: /rows-without-list.mjs: list of its MetadataStore is missing; expected a function',
  ],
  [
    'evidence-without-prove',
    moduleOf('attester', 'Prover', `({ platform: 'own' })`),
    asEvidence,
    '24:3 enclave.evidence: /evidence-without-prove.mjs: prove of its Prover is missing; expected a function',
  ],
]

export const wrongPlugins: readonly WrongPlugin[] = cases.map(([name, text, place, sentence]) => ({
  name,
  text,
  place,
  sentence,
}))
