/**
 * Makes what is packed: modules that are loaded together share a file, and so do recordings and the console's scripts. Pages link
 * to files of the package alone.
 * `FOLDER` fills a folder that npm packs; `in` puts the merged files in the place of the compiled ones, and `back` ends that.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { rollup } from 'rollup'
import { minify } from 'terser'

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const rooms = ['core', 'plugins', 'adapters', 'test']

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()

const write = (path, content) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

/** What `exports` names. Of plugins those of a family's own folder: the files below are parts. */
const publicModules = () =>
  Object.values(manifest.exports).flatMap((target) => {
    if (typeof target === 'string') return []
    const [before, after] = target.default.slice(2).split('*')
    if (after === undefined) return [before]
    const folders = before === 'dist/plugins/' ? readdirSync(before).map((family) => `${before}${family}/`) : [before]
    return folders
      .filter((folder) => !/plugins\/(shared|sealed|usage)\//.test(folder))
      .flatMap((folder) => readdirSync(folder).map((name) => folder + name))
      .filter((file) => file.endsWith(after))
  })

/** Processes, threads and jobs: a program names them by a path. */
const started = /-(job|process|thread)\.js$/
/** Modules that do something when they are loaded; so may packages, which are loaded only where they are needed. */
const effects = /(core\/container|-(job|process|thread|main))\.js$/

/** A module goes on finding the files beside its own place. */
const ownPlace = {
  name: 'own-place',
  resolveImportMeta(property, { moduleId, chunkId }) {
    if (property !== 'url') return null
    const way = posix.relative(posix.dirname(chunkId), relative('dist', moduleId))
    return `new URL('${way.startsWith('.') ? way : `./${way}`}', import.meta.url).href`
  },
}

/** Data that modules import. */
const data = {
  name: 'data',
  transform: (text, id) => (id.endsWith('.json') ? { code: `export default ${text}`, map: null } : null),
}

const optional = Object.keys({ ...manifest.optionalDependencies, ...manifest.peerDependencies })

/** A bundler goes on without a package whose import may fail. */
const optionalImports = {
  name: 'optional-imports',
  renderDynamicImport({ targetModuleId }) {
    const isOptional = optional.some((name) => targetModuleId === name || targetModuleId?.startsWith(`${name}/`))
    return isOptional ? { left: 'import(', right: ').catch((cause) => { throw cause })' } : null
  },
}

/** Code keeps its order and its calls; statements alone become shorter. */
const compress = {
  ...{ defaults: false, arrows: true, booleans: true, comparisons: true, conditionals: true, dead_code: true },
  ...{ if_return: true, join_vars: true, properties: true, sequences: true, unused: true },
}

/** Shorter names of variables; an error is known by the name of its class. */
const shortened = async (code) => {
  const format = { max_line_len: 1_000 }
  return (await minify(code, { module: true, compress, keep_classnames: true, format })).code
}

/** The program waits for its command, and whatever imports the program would wait for itself: it has a file of its own. */
const program = manifest.bin.sealgate
const namedByProgram = () =>
  [...readFileSync(program, 'utf8').matchAll(/['"](\.\.?\/[^'"]+\.js)['"]/g)].map(([, way]) =>
    join(dirname(program), way),
  )

/** What Node and a browser load for a name of the package's own. */
const chosen = Object.values(manifest.imports).flatMap((ways) => Object.values(ways).map((file) => file.slice(2)))

const bundle = async (target) => {
  const programs = rooms.slice(0, 3).flatMap((room) => filesIn(`dist/${room}`).filter((file) => started.test(file)))
  const entries = [...new Set([...publicModules(), ...chosen, ...programs, ...namedByProgram()])]
  const modules = await rollup({
    input: Object.fromEntries(entries.map((file) => [relative('dist', file).replace(/\.js$/, ''), file])),
    external: (id) => !/^(\.|\/|dist\/)/.test(id),
    preserveEntrySignatures: 'strict',
    treeshake: { moduleSideEffects: (id, isForeign) => (isForeign ? !id.startsWith('node:') : effects.test(id)) },
    logLevel: 'warn',
    onwarn({ code, message }) {
      if (code !== 'THIS_IS_UNDEFINED' && code !== 'EMPTY_BUNDLE') throw new Error(message)
    },
    plugins: [ownPlace, data, optionalImports],
  })
  const { output } = await modules.generate({
    format: 'es',
    chunkFileNames: 'parts/[hash].js',
    experimentalMinChunkSize: 10_000,
    hoistTransitiveImports: false,
    minifyInternalExports: false,
  })
  for (const { fileName, code } of output) write(join(target, fileName), await shortened(code))
  write(join(target, relative('dist', program)), await shortened(readFileSync(program, 'utf8')))
}

/** The declarations that the public modules reach. Those of parts go without their comments. */
const declare = (target) => {
  const declarations = [...publicModules(), ...chosen].map((file) => file.replace(/\.js$/, '.d.ts'))
  const reached = new Set(declarations)
  for (const file of reached) {
    const text = readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '')
    const isPart = !declarations.includes(file) && !file.includes('/sealed/client/')
    write(join(target, relative('dist', file)), isPart ? text.replaceAll(/^ *\/\*\*[^]*?\*\/\n/gm, '') : text)
    for (const [, name] of text.matchAll(/['"](\.\.?\/[^'"]+)\.(?:js|ts)['"]/g)) {
      const next = join(dirname(file), `${name}.d.ts`)
      if (existsSync(next)) reached.add(next)
    }
  }
}

/** The scripts of the console, by their names in a browser. */
const consoleScripts = async (target) => {
  const place = pathToFileURL('dist/plugins/surfaces/console/browser-modules.js').href
  const { browserModules } = await import(place)
  const own = resolve('dist/plugins/surfaces/console/browser')
  const names = filesIn(own).filter((file) => file.endsWith('.js'))
  const scripts = await browserModules(
    { own, root: resolve('dist') },
    names.map((file) => relative(own, file)),
  )
  const light = []
  for (const [name, code] of scripts) light.push([name, await shortened(code)])
  write(join(target, 'plugins/surfaces/console.json.br'), brotliCompressSync(Buffer.from(JSON.stringify(light))))
}

/** Recorded answers of backends; a character is a byte. */
const recordings = (target) => {
  const folder = 'test/vectors/providers'
  const all = filesIn(folder).map((file) => [relative(folder, file), readFileSync(file, 'latin1')])
  write(join(target, 'test/recordings.json'), JSON.stringify(Object.fromEntries(all)))
}

const merge = async (target) => {
  rmSync(target, { recursive: true, force: true })
  await bundle(target)
  declare(target)
  await consoleScripts(target)
  recordings(target)
}

/** What the package has in another form than the repository. */
const reworded = async () => {
  const { packedData, packedPages } = await import(pathToFileURL('dist/test/packed/pages.js').href)
  return [...packedPages(), ...packedData()]
}

const beside = ['package.json', 'npm-shrinkwrap.json', 'README.md', 'LICENSE', 'docs', 'examples']
const [how] = process.argv.slice(2)
const [whole, merged, pages] = ['dist/whole', 'dist/merged', 'dist/pages']
const move = (names, from, to) => {
  mkdirSync(to, { recursive: true })
  for (const name of names) renameSync(join(from, name), join(to, name))
}
if (how === 'in') {
  await merge(merged)
  const made = await reworded()
  // Without the compiler's notes, the next build makes all of it anew, even where nobody takes the files back.
  move([...rooms, ...readdirSync('dist').filter((name) => name.endsWith('.tsbuildinfo'))], 'dist', whole)
  move(readdirSync(merged), merged, 'dist')
  for (const [path, text] of made) {
    write(join(pages, path), readFileSync(path))
    writeFileSync(path, text)
  }
} else if (how === 'back') {
  for (const room of [...rooms, 'parts']) rmSync(join('dist', room), { recursive: true, force: true })
  move(readdirSync(whole), whole, 'dist')
  for (const path of filesIn(pages)) renameSync(path, relative(pages, path))
  for (const folder of [whole, merged, pages]) rmSync(folder, { recursive: true, force: true })
} else {
  await merge(join(how, 'dist'))
  for (const name of beside) cpSync(name, join(how, name), { recursive: true })
  for (const [path, text] of await reworded()) write(join(how, path), text)
}
