// Packs the package, installs the tarball in empty folders as a user would, starts it, asks it something and loads every entry.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundled } from './packed/bundled.mjs'
import { entriesOf, loading, naming, strict } from './packed/entries.mjs'
import { served } from './packed/served.mjs'
import { weighed } from './packed/weighed.mjs'

/** koa-body alone brings 65 of the packages. */
const most = { packages: 182, bytes: 110e6, tarball: 1.22e6, files: 900 }

const compiler = resolve('node_modules/typescript/bin/tsc')
const program = 'node_modules/sealgate/dist/adapters/production/main.js'

const folders = []
const emptyFolder = (name) => {
  const folder = mkdtempSync(join(tmpdir(), `sealgate-${name}-`))
  folders.push(folder)
  writeFileSync(join(folder, 'package.json'), `{"name":"${name}","version":"0.0.0","private":true,"type":"module"}`)
  return folder
}
const run = (command, args, cwd) => {
  try {
    return execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] }).toString()
  } catch (error) {
    throw new Error(`${command} ${args[0]} failed: ${error.stdout}`)
  }
}

/** The program itself, or null where no registry gives it. */
const fetchedPnpm = () => {
  const folder = emptyFolder('pnpm')
  try {
    // The last release that runs on the oldest Node we serve.
    run('npm', ['install', '--silent', '--no-audit', '--no-fund', 'pnpm@10'], folder)
    return join(folder, 'node_modules/.bin/pnpm')
  } catch {
    return null
  }
}

const npm = ['npm', 'install', '--silent', '--no-audit', '--no-fund']
const pnpm = fetchedPnpm()
const ways = {
  npm,
  'npm without optional packages': [...npm, '--omit=optional'],
  pnpm: pnpm === null ? null : [pnpm, 'add', '--silent', '--store-dir', join(emptyFolder('store'), 'store')],
}

/** Installs by each way, and tells what that weighs. */
const installedByAll = async (tarball) => {
  for (const [way, command] of Object.entries(ways)) {
    if (command === null) {
      console.log(`${way}: skipped, it could not be had`)
      continue
    }
    const own = emptyFolder('light')
    run(command[0], [...command.slice(1), tarball], own)
    const { packages, bytes } = weighed(own)
    console.log(`${way}: ${packages} packages, ${(bytes / 1e6).toFixed(1)} MB`)
    if (packages > most.packages || bytes > most.bytes) throw new Error(`${way} installs too much`)
    await served(own, join(own, program))
    typed(own)
    // A bundler finds no package that nobody installed.
    if (command.includes('--omit=optional')) await bundled(own)
  }
}

/** Whatever `exports` names has declarations that hold by themselves, for both kinds of modules. */
const typed = (folder) => {
  const source = naming(entriesOf(join(folder, 'node_modules/sealgate')))
  for (const file of ['all.mts', 'all.cts']) writeFileSync(join(folder, file), source)
  writeFileSync(join(folder, 'tsconfig.json'), strict)
  run('node', [compiler, '--project', '.'], folder)
}

/** Whatever `exports` names is there with all that it imports, for both kinds of modules. */
const loaded = (folder, unpacked) => {
  const entries = entriesOf(unpacked)
  for (const [file, how] of Object.entries({ 'imports.js': 'import', 'requires.cjs': 'require' })) {
    writeFileSync(join(folder, file), loading(entries, how))
    const unreachable = run('node', [file], folder).trim()
    if (unreachable !== '') throw new Error(`exported, but not loaded by ${how}:\n${unreachable}`)
  }
}

/** Installed by its own lock, the package runs on what was tested here, whatever is newest elsewhere. */
const lockedAlike = (unpacked) => {
  run('npm', ['ci', '--silent', '--omit=dev', '--ignore-scripts'], unpacked)
  const lock = (path) => JSON.parse(readFileSync(path, 'utf8')).packages
  const tested = lock('npm-shrinkwrap.json')
  const there = Object.entries(lock(join(unpacked, 'node_modules/.package-lock.json')))
  const others = there.filter(([path, { version }]) => tested[path]?.version !== version).map(([path]) => path)
  if (others.length > 0) throw new Error(`installed, but never tested: ${others.join(' ')}`)
}

const billed = (folder) => {
  const bill = JSON.parse(run('npm', ['sbom', '--silent', '--sbom-format=cyclonedx'], folder))
  const named = new Set(bill.components.filter(({ hashes }) => hashes).map(({ name }) => name))
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const missing = ['sealgate', ...Object.keys(dependencies)].filter((name) => !named.has(name))
  if (missing.length > 0) throw new Error(`the bill of materials lacks ${missing.join(', ')}`)
  if (process.env.SBOM) writeFileSync(process.env.SBOM, JSON.stringify(bill))
}

/** A user reads the pages and copies the examples where they are installed. */
const documented = (unpacked) => {
  const { bin, exports } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'))
  const wanted = ['docs/start.md', 'docs/config.schema.json', 'examples/server.ts', 'examples/production/compose.yaml']
  for (const file of [...wanted, bin.sealgate, exports['./config.schema.json']]) readFileSync(join(unpacked, file))
}

const embedded = `import { createGateway } from 'sealgate'
  import { memory } from 'sealgate/memory'
  const gateway = createGateway(memory())
  import { vector } from 'sealgate/testing/stage'
  console.log(typeof gateway.listener, (await vector('sglang/models.json')).length > 0)
  await gateway.close()`

try {
  const folder = emptyFolder('installed')
  const tree = emptyFolder('tree')
  run('node', ['test/merged.mjs', tree], process.cwd())
  const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, tree]
  const [{ filename, size, entryCount }] = JSON.parse(run('npm', packing, process.cwd()))
  console.log(`packed: ${entryCount} files, ${Math.ceil(size / 1e3)} kB`)
  if (size > most.tarball || entryCount > most.files) throw new Error('the package is too large')
  const tarball = join(folder, filename)
  run('npm', ['install', '--silent', tarball], folder)
  await installedByAll(tarball)

  run('tar', ['-xzf', tarball], folder)
  const unpacked = join(folder, 'package')
  lockedAlike(unpacked)
  documented(unpacked)
  billed(folder)

  writeFileSync(join(folder, 'embed.js'), embedded)
  if (run('node', ['embed.js'], folder).trim() !== 'function true') throw new Error('could not be embedded')
  loaded(folder, unpacked)
  if (!run(join(folder, 'node_modules/.bin/sealgate'), ['help'], folder).includes('sealgate keys'))
    throw new Error('no command')

  await served(folder, join(unpacked, 'dist/adapters/production/main.js'))
  console.log('packed, installed, embedded, started, ready, stopped')
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}
