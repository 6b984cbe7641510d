import { execFile } from 'node:child_process'
import { access, readFile, readdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { blocksOf } from './docs/blocks.ts'

/** The public entries, each with the values and the types that it exports. They go on working in every 2.x. */
const publicEntries = JSON.parse(await readFile('test/public-entries.json', 'utf8')) as Readonly<
  Record<string, { readonly values: readonly string[]; readonly types: readonly string[] }>
>

/** The names that a declaration file exports, also those that it hands on from another file. */
const declared = (text: string): ReadonlySet<string> =>
  new Set([
    ...[...text.matchAll(/^export (?:declare )?(?:interface|type|const|function|class) (\w+)/gm)].map(
      ([, name]) => name!,
    ),
    ...[...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) =>
      names!.split(',').map((part) =>
        part
          .trim()
          .split(' as ')
          .at(-1)!
          .replace(/^type /, ''),
      ),
    ),
  ])

/** Where an entry leads: to a file, or by conditions. */
type Target = string | { readonly types: string; readonly default: string }

interface Package {
  readonly exports: Readonly<Record<string, Target>>
  readonly files: readonly string[]
}

const { exports, files } = JSON.parse(await readFile('package.json', 'utf8')) as Package
const load = createRequire(import.meta.url)

/** Families whose plugins an embedder gives to a gateway. Node has no pattern for one level of folders: the list is the promise. */
const families = ['providers', 'tools', 'readers', 'storage', 'guards', 'surfaces', 'evidence']

/** Each name that a key with `*` promises: the ports, the contracts, and the plugins of each family. */
const promised: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  './ports/*': () => modulesIn('core/ports'),
  './testing/*': () => modulesIn('test/contracts'),
  './plugins/*': async () => {
    const lists = families.map(async (family) =>
      (await modulesIn(`plugins/${family}`)).map((name) => `${family}/${name}`),
    )
    return (await Promise.all(lists)).flat()
  },
}

const modulesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((file) => file.endsWith('.ts')).map((file) => file.slice(0, -3))

const specifiersOf = async (key: string): Promise<readonly string[]> =>
  key.includes('*')
    ? (await promised[key]!()).map((name) => key.replace('.', 'sealgate').replace('*', name))
    : [key.replace('.', 'sealgate')]

t.test('fifteen keys at most are public', async (t) => {
  const keys = Object.keys(exports)
  t.ok(keys.length <= 15, `${keys.length} keys`)
  t.same(keys.filter((key) => key.includes('*')).sort(), Object.keys(promised).sort())
})

t.test('every entry exports what it promises', async (t) => {
  for (const [specifier, { values, types }] of Object.entries(publicEntries)) {
    const exported = (await import(specifier)) as Record<string, unknown>
    for (const name of values) if (!(name in exported)) t.fail(`${specifier} exports no ${name}`)
    const file = fileURLToPath(import.meta.resolve(specifier)).replace(/\.js$/, '.d.ts')
    const names = declared(await readFile(file, 'utf8'))
    for (const name of types) if (!names.has(name)) t.fail(`${specifier} exports no type ${name}`)
  }
  const named = new Set(Object.keys(publicEntries))
  const fixed = Object.keys(exports).filter((key) => !/\*|\.json$/.test(key))
  t.same(
    fixed.map((key) => key.replace('.', 'sealgate')).filter((specifier) => !named.has(specifier)),
    [],
  )
})

t.test('settings in code may have a section of one’s own, whose members are checked', async (t) => {
  const page = await readFile('docs/adding-a-surface.md', 'utf8')
  const shown = blocksOf(page).find(({ mark }) => mark === 'checked as typed settings')
  const used = `
import { createGateway } from 'sealgate'
import { memory } from 'sealgate/memory'
const all = { ...memory(), sections: [pigeonSettings] }
createGateway(all, { pigeons: { loft: 'south' }, decision: {} })
// @ts-expect-error
createGateway(all, { pigeons: { loft: 3 } })
// @ts-expect-error
createGateway(all, { doves: { loft: 'south' } })
`
  const folder = t.testdir()
  const compilerOptions = { ...{ module: 'nodenext', target: 'es2022', strict: true }, noEmit: true, types: ['node'] }
  await writeFile(join(folder, 'own.mts'), shown?.text + used)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['own.mts'] }))
  const compiled = promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-p', folder])
  await t.resolves(compiled.catch(({ stdout }: { stdout: string }) => Promise.reject(new Error(stdout))))
})

t.test('every key is loaded by import and by require, and both give the same module', async (t) => {
  for (const key of Object.keys(exports)) {
    const specifiers = await specifiersOf(key)
    t.ok(specifiers.length > 0, key)
    for (const specifier of specifiers) {
      const byRequire = load(specifier) as Record<string, unknown>
      if (key.endsWith('.json')) {
        t.ok(Object.keys(byRequire).length > 0, specifier)
        continue
      }
      const byImport = (await import(specifier)) as Record<string, unknown>
      const differing = Object.keys(byImport).filter((name) => byImport[name] !== byRequire[name])
      if (differing.length > 0) t.fail(`${specifier} gives another ${differing.join(', ')} to require`)
    }
  }
})

t.test('every entry with a name of its own leads to a file that is shipped', async (t) => {
  for (const [entry, target] of Object.entries(exports)) {
    const path = typeof target === 'string' ? target : target.default
    if (typeof target !== 'string') t.equal(Object.keys(target)[0], 'types', `${entry} names its types first`)
    if (entry.includes('*') || entry === './package.json') continue
    await t.resolves(access(path), entry)
    t.ok(
      files.some((packed) => path.slice(2).startsWith(`${packed}/`)),
      `${path} is packed`,
    )
  }
})

t.test('pages without a bundler load the portable code for each name that Node resolves otherwise', async (t) => {
  const { imports } = JSON.parse(await readFile('package.json', 'utf8')) as {
    imports: Record<string, { readonly default: string }>
  }
  const [page, modules] = await Promise.all([
    readFile('examples/browser/index.html', 'utf8'),
    readFile('plugins/surfaces/console/browser-modules.ts', 'utf8'),
  ])
  for (const [name, { default: portable }] of Object.entries(imports)) {
    const file = portable.replace('./dist/', '')
    t.ok(page.includes(`"${name}": "/sealgate/${file}"`), `${name} in the example`)
    t.ok(modules.includes(`'${name}': '${file}'`), `${name} in the console`)
  }
})
