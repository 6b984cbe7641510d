import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { publicEntries } from './public-entries.ts'

/** The names that a declaration file exports, also those that it hands on from another file. */
const declared = (text: string): ReadonlySet<string> =>
  new Set([
    ...[...text.matchAll(/^export (?:declare )?(?:interface|type|const|function|class) (\w+)/gm)].map(
      ([, name]) => name!,
    ),
    ...[...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) =>
      names!.split(',').map((it) =>
        it
          .trim()
          .split(' as ')
          .at(-1)!
          .replace(/^type /, ''),
      ),
    ),
  ])

t.test('every entry of 1.0.0 still exports what it exported', async (t) => {
  for (const [specifier, { values, types }] of Object.entries(publicEntries)) {
    const exported = (await import(specifier)) as Record<string, unknown>
    for (const name of values) if (!(name in exported)) t.fail(`${specifier} exports no ${name}`)
    const file = fileURLToPath(import.meta.resolve(specifier)).replace(/\.js$/, '.d.ts')
    const names = declared(await readFile(file, 'utf8'))
    for (const name of types) if (!names.has(name)) t.fail(`${specifier} exports no type ${name}`)
  }
  t.ok(Object.keys(publicEntries).length > 100)
})

t.test('every entry with a name of its own leads to a file that is shipped', async (t) => {
  const { exports, files } = JSON.parse(await readFile('package.json', 'utf8')) as {
    exports: Record<string, string | null>
    files: readonly string[]
  }
  for (const [entry, path] of Object.entries(exports)) {
    // The program of a thread or a process is no entry.
    if (path === null) continue
    if (entry.includes('*') || entry === './package.json') continue
    await t.resolves(access(path), entry)
    const folder = join(dirname(path))
    t.ok(
      files.some((it) => `${folder}/`.startsWith(`${it}/`) || path.slice(2).startsWith(it.replace(/\*$/, ''))),
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
    const file = portable.replace('./dist/core/', '')
    t.ok(page.includes(`"${name}": "/sealgate/core/${file}"`), `${name} in the example`)
    t.ok(modules.includes(`'${name}': '${file}'`), `${name} in the console`)
  }
})
