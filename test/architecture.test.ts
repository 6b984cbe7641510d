import { access, readFile, readdir } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { basename, dirname, join, normalize } from 'node:path'
import t from 'tap'
import { brokenHouses } from './architecture-broken.ts'
import { oldWords } from './lint-comments.ts'

/** Which room may import from which; the longest match wins. `core` alone is the files at its root. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  // Routes are data: the port of surfaces alone names their form.
  'core/ports': [
    'core/container.ts',
    'core/errors.ts',
    'core/settings.ts',
    'core/http/route.ts',
    'core/http/reference.ts',
  ],
  'core/dialects': ['core/ports', 'core/errors.ts'],
  'core/access': ['core/ports', 'core'],
  'core/live': ['core/ports', 'core'],
  'core/inference': ['core/ports', 'core/dialects', 'core/access', 'core/live', 'core'],
  'core/files': ['core/ports', 'core/dialects', 'core'],
  'core/receipts': ['core/ports', 'core/sealed/wire', 'core'],
  'core/generations': ['core/ports', 'core/access', 'core/inference', 'core/files', 'core/receipts', 'core'],
  'core/http': ['core/ports', 'core/access', 'core/dialects', 'core/generations', 'core/live', 'core'],
  // Calls that the interface and surfaces serve alike, as routes without a door.
  'core/calls': ['core/http', 'core/ports', 'core/access', 'core/dialects', 'core/inference', 'core'],
  'core/routes': [
    'core/calls',
    'core/http',
    'core/ports',
    'core/access',
    'core/dialects',
    'core/inference',
    'core/files',
    'core/receipts',
    'core/generations',
    'core/live',
    'core/sealed/wire/body.ts',
    'core',
  ],
  'core/sealed/wire': [],
  'core/sealed/retrieval': ['core/ports', 'core/errors.ts'],
  'core/sealed/enclave': [
    'core/ports',
    'core/dialects',
    'core/inference',
    'core/sealed/retrieval',
    'core/sealed/wire',
    'core',
  ],
  'core/sealed/evidence': ['core/sealed/wire/bytes.ts', 'core/sealed/wire/hex.ts'],
  'core/sealed/client': ['core/sealed/wire', 'core/sealed/evidence', 'core/dialects/sse.ts', 'core/ports/upstream.ts'],
  core: [
    'core/ports',
    'core/access',
    'core/files',
    'core/generations',
    'core/http',
    'core/routes',
    'core/inference',
    'core/live',
    'core/sealed/wire/kem-names.ts',
  ],
  // What plugins import of each other is told by the rule on parts.
  plugins: ['core/ports', 'core/dialects', 'core/inference', 'core/sealed/wire', 'core'],
  // Doors to callers: routes as data, and what they share with the interface's own routes.
  'plugins/surfaces': [
    'core/ports',
    'core/dialects',
    'core/inference',
    'core/access',
    'core/files',
    'core/calls',
    'core/http/route.ts',
    'core/http/reply.ts',
    'core/http/reference.ts',
    'core/http/http-errors.ts',
    'core/http/envelope.ts',
    // A page that ends its session shows the credential of it.
    'core/http/access.ts',
    'plugins',
    'core',
  ],
  // It runs in browsers, and the gateway hands out its bytes.
  'plugins/surfaces/console/browser': ['plugins/surfaces/console/browser/sealed/playground.ts'],
  // A browser loads it, and the client, only when the page of the playground opens.
  'plugins/surfaces/console/browser/sealed': [
    'plugins/surfaces/console/browser',
    'core/sealed/client',
    'core/sealed/evidence',
    'core/sealed/wire',
  ],
  // A gateway of its own, made as an embedder makes one.
  'adapters/drill': ['adapters/memory', 'adapters/production/platform.ts', 'core/ports', 'plugins', 'core'],
  'adapters/memory': ['adapters/drill', 'core/ports', 'core/sealed/enclave', 'plugins', 'plugins/surfaces', 'core'],
  'adapters/production': [
    'adapters/drill',
    'adapters/memory',
    'core/ports',
    'core/dialects',
    'core/inference/proven.ts',
    'core/inference/metering/tokens.ts',
    'core/inference/guards/passage.ts',
    'core/inference/decisions/calibration.ts',
    'core/inference/decisions/decision-answer.ts',
    'core/access',
    // The sums over labelled cases, which the console's page of decisions makes too.
    'plugins/surfaces/console/browser/chance.ts',
    'plugins/surfaces/console/browser/figures.ts',
    'plugins/surfaces/console/browser/promise.ts',
    'core/generations',
    // The reader's own machine serves the same console.
    'plugins/surfaces/console/built.ts',
    'plugins/surfaces/console/headers.ts',
    'core/sealed/client',
    'core/sealed/enclave',
    'core/sealed/evidence',
    'core/sealed/wire',
    'plugins',
    'core',
  ],
  examples: ['core', 'core/ports', 'adapters/memory', 'adapters/production', 'plugins'],
}

/**
 * A plugin is a file of its family's folder and may have a folder of parts with its own name. It may import those parts,
 * those that its family shares, and those that all families share. Parts belong to the same folder or are shared.
 */
const mayImportPart = (file: string, to: string): boolean => {
  const [, family, own] = file.split('/').map((it) => it.replace(/\.ts$/, ''))
  const shared = ['plugins/shared/', `plugins/${family}/shared/`]
  if (family === 'shared') return to.startsWith('plugins/shared/')
  return shared.concat(own === 'shared' ? [] : `plugins/${family}/${own}/`).some((folder) => to.startsWith(folder))
}

const isPluginFile = (file: string): boolean => /^plugins\/(?!shared\/)[^/]+\/[^/.]+\.ts$/.test(file)

/** Packages that one place alone may name. */
const only: Readonly<Record<string, string>> = {
  tsyringe: 'core/container.ts',
  'reflect-metadata': 'core/container.ts',
  koa: 'core/http/',
  '@koa/router': 'core/http/',
  formidable: 'core/http/',
  'node-fetch': 'adapters/production/network/fetch-outside.ts',
  undici: 'adapters/production/network/fetch-upstream.ts',
  jose: 'core/access/token-signature.ts',
  '@noble/post-quantum': 'core/sealed/wire/',
}

/** Names that one place alone may import from a file. */
const guarded = [
  { name: '*', from: 'core/http/', by: /^(?!core\/ports\/)|^core\/ports\/surface\.ts$/ },
  { name: 'opener', from: 'core/sealed/wire/kem.ts', by: /^core\/sealed\/enclave\/epochs\.ts$/ },
  { name: 'signingPair', from: 'core/sealed/wire/signature.ts', by: /^core\/sealed\/enclave\/receipts\.ts$/ },
  {
    name: '*',
    from: 'core/sealed/enclave/',
    by: /^(core\/sealed\/enclave\/|adapters\/memory\/enclave\.ts$|adapters\/production\/enclave\/enclave-main\.ts$)/,
  },
]

const listed = async (top: string) => {
  const files = await readdir(top, { recursive: true }).catch(() => [])
  return files.map((file) => join(top, file)).filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
}
const tops = ['core', 'plugins', 'adapters', 'examples'] as const
const files = (await Promise.all(tops.map(listed))).flat().sort()
const room = (file: string) =>
  Object.keys(rooms)
    .filter((name) => file.startsWith(`${name}/`))
    .sort((one, other) => other.length - one.length)[0]
const importsOf = (text: string) =>
  [...text.matchAll(/(?:^import|^export|^} from|\bimport\()\s*(?:type\s+)?(?:([^'"]*?)\s*from\s*)?'([^']+)'/gm)].map(
    (match) => ({
      names: match[1] ?? '',
      from: match[2]!,
    }),
  )
const text = new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)))

/** Texts by path. */
type House = ReadonlyMap<string, string>

const importFaults = (house: House): readonly string[] => {
  const faults: string[] = []
  for (const [file, content] of house) {
    const own = room(file)
    if (own === undefined) {
      faults.push(`${file} stands in no room`)
      continue
    }
    for (const { names, from } of importsOf(content)) {
      if (!from.startsWith('.')) {
        const name = from.replace(/^((?:@[^/]+\/)?[^/]+).*$/, '$1')
        const place = only[name]
        if (place !== undefined && own !== 'examples' && !file.startsWith(place))
          faults.push(`${name} belongs to ${place}, not ${file}`)
        const free =
          own !== 'core/sealed/wire' || /^(@noble\/|#(?:aead|ml-kem|x25519)$)/.test(from) || file.endsWith('.node.ts')
        const browser = own !== 'core/sealed/client' || !(from.startsWith('node:') || builtinModules.includes(from))
        // What a stranger must trust takes nothing from outside.
        const alone = own !== 'core/sealed/evidence' && !own.startsWith('plugins/surfaces/console/browser')
        if (!free || !browser || !alone) faults.push(`${file} may not import ${from}`)
        continue
      }
      const to = normalize(join(dirname(file), from))
      const there = room(to)
      const allowed = there === own || rooms[own]!.some((it) => it === there || it === to)
      if (!allowed) faults.push(`${file} may not import ${to}`)
      if (!from.endsWith('.ts')) faults.push(`${file} imports ${from} without its ending`)
      if (own.startsWith('plugins') && there?.startsWith('plugins') && !mayImportPart(file, to))
        faults.push(`${file} imports ${to}, a plugin or a part of another one`)
      for (const rule of guarded) {
        const meant = to.startsWith(rule.from) && (rule.name === '*' || new RegExp(`\\b${rule.name}\\b`).test(names))
        if (meant && !rule.by.test(file)) faults.push(`${file} may not import ${rule.name} of ${rule.from}`)
      }
    }
  }
  return faults
}

const circleFaults = (house: House): readonly string[] => {
  const faults: string[] = []
  const graph = new Map(
    [...house].map(([file, content]) => [
      file,
      importsOf(content)
        .filter(({ from, names }) => from.startsWith('.') && !/^type\b/.test(names))
        .map(({ from }) => normalize(join(dirname(file), from))),
    ]),
  )
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) return void faults.push([...path.slice(path.indexOf(file)), file].join(' > '))
    if (done.has(file)) return
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of house.keys()) visit(file, [])
  return faults
}

const textFaults = (house: House): readonly string[] => {
  const faults: string[] = []
  const misnamed = /(^index|(^|-)(service|manager|handler|helper|utils?|base|impl|common|misc|types))\.ts$/
  for (const [file, content] of house) {
    const lines = content.split('\n').length - 1
    if (lines > 400) faults.push(`${file} has ${lines} lines`)
    if (/^export \*/m.test(content)) faults.push(`${file} is a barrel`)
    if (/\b(TODO|FIXME|XXX|HACK)\b/.test(content)) faults.push(`${file} is unfinished`)
    if (misnamed.test(basename(file)) && !/^adapters\/\w+\/index\.ts$/.test(file))
      faults.push(`${file} has a name that says nothing`)
    if (!isPluginFile(file) && !/^[a-z0-9-]+(\.[a-z]+)?\.ts$/.test(basename(file)))
      faults.push(`${file} is not in kebab case`)
    if (
      /new \w+\(\s*`[^`]*\$\{(?!most\})/.test(content) &&
      /^(core|plugins)\//.test(file) &&
      /\b(BadRequest|NotFound|UpstreamFailed|Unavailable|Forbidden|GatewayError)\(\s*`/.test(content)
    ) {
      faults.push(`${file} builds a public message from data`)
    }
    if (
      /^core\/(?!container|sealed\/client)/.test(file) &&
      /\b(setTimeout|setInterval|Date\.now|Math\.random)\(/.test(content)
    ) {
      faults.push(`${file} takes time or chance from the process instead of a port`)
    }
    for (const { line, words } of oldWords(content)) faults.push(`${file}:${line} says "${words}" in a comment`)
  }
  return faults
}

const rules: Readonly<Record<string, (house: House) => readonly string[]>> = {
  'imports stay within the rooms': importFaults,
  'no circles': circleFaults,
  'sizes, names and words': textFaults,
}

for (const [name, rule] of Object.entries(rules))
  t.test(name, async (t) => {
    for (const fault of rule(text)) t.fail(fault)
    t.ok(text.size > 50, `${text.size} files looked at`)
  })

t.test('every rule finds the fault of a broken copy', async (t) => {
  for (const { rule, file, add, fault } of brokenHouses) {
    const changed = (text.get(file) ?? '') + add
    // Only a circle takes more than one file.
    const copy = rule === 'no circles' ? new Map(text).set(file, changed) : new Map([[file, changed]])
    t.match(rules[rule]?.(copy).join('\n'), fault, `${file}: ${fault.source}`)
  }
  const played = new Set(brokenHouses.map(({ rule }) => rule))
  t.same([...played].sort(), Object.keys(rules).sort(), 'each rule has a broken copy')
})

t.test('every plugin is named after its file and proves its contract', async (t) => {
  const contracts: Readonly<Record<string, string>> = {
    // One that decides and does not chat proves that instead.
    Upstream: 'upstream|decider',
    BlobStore: 'blob-store',
    MetadataStore: 'metadata-store',
    Tool: 'tool',
    Prover: 'attester',
    BackendEvidence: 'backend-evidence',
    Reader: 'reader',
    Guard: 'guard',
    Surface: 'surface',
  }
  for (const file of files.filter(isPluginFile)) {
    const test = join('test', file.replace(/\.ts$/, '.test.ts'))
    const proven = await readFile(test, 'utf8').catch(() => null)
    if (proven === null) {
      t.fail(`${file} has no ${test}`)
      continue
    }
    const name = /name: '([^']+)'/.exec(text.get(file)!)?.[1]
    t.equal(name, basename(file, '.ts'), `${file} carries its public name`)
    const port = /^\s+port: (\w+),/m.exec(text.get(file)!)?.[1] ?? ''
    const contract = contracts[port]
    if (contract === undefined) t.fail(`${file} fits ${port}, which has no contract`)
    else t.match(proven, new RegExp(`contracts/(${contract})\\.ts'`), `${test} runs the contract of ${port}`)
  }
  for (const contract of Object.values(contracts).flatMap((it) => it.split('|')))
    await t.resolves(access(`test/contracts/${contract}.ts`), contract)
})
