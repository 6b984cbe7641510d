import './fakes/unwatched.ts'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import t from 'tap'
import { abilities, optionalPackage, specsOf } from '../plugins/shared/optional-package.ts'
import { program } from './fakes/served.ts'

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>
}

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly libc?: readonly string[]
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly engines?: { readonly node?: string }
}

const load = createRequire(import.meta.url)
const json = async <T>(path: string) => JSON.parse(await readFile(path, 'utf8')) as T
const manifest = await json<Manifest>('package.json')
const large = await json<Readonly<Record<string, string>>>('test/large-packages.json')

/** What a version within the range begins with: `^1.2.3` keeps the major version, `~1.2` the minor one too. */
const startOf = (range: string): RegExp => {
  const [major, minor] = range.slice(1).split('.')
  return new RegExp(`^${major}\\.${range.startsWith('~') ? `${minor}(\\.|$)` : ''}`)
}

const { packages: locked } = await json<{ packages: Readonly<Record<string, Locked>> }>('npm-shrinkwrap.json')

/** Where a package of that name stands for the one at this place. */
const found = (from: string, name: string): string | null => {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`
    if (path in locked) return path
    if (at === '') return null
  }
}

const fits = ({ os, cpu, libc }: Locked): boolean =>
  (os?.includes('linux') ?? true) && (cpu?.includes('x64') ?? true) && !(libc?.includes('musl') ?? false)

/** All that npm installs for these on Linux. */
const installed = (names: readonly string[]): ReadonlySet<string> => {
  const seen = new Set<string>()
  const waiting = names.map((name) => found('', name))
  for (const path of waiting) {
    if (path === null || seen.has(path) || !fits(locked[path]!)) continue
    seen.add(path)
    const entry = locked[path]!
    const peers = Object.keys(entry.peerDependencies ?? {}).filter(
      (name) => !entry.peerDependenciesMeta?.[name]?.optional,
    )
    for (const name of [...Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }), ...peers])
      waiting.push(found(path, name))
  }
  return seen
}

/** Whether Node 20.19 is within such a range: `>=` counts from its version on, every other mark within one major version. */
const takesOldest = (range: string): boolean =>
  range.split('||').some((each) => {
    const [, mark, major = '0', minor = '0'] = /^\s*(\D*?)\s*v?(\d+)(?:\.(\d+))?/.exec(each) ?? []
    if (each.trim() === '*') return true
    const isOld = Number(major) * 1000 + Number(minor) <= 20_019
    return mark === '>=' || mark === '>' ? isOld : isOld && major === '20'
  })

t.test('npm ci warns of no engine on the oldest Node', (t) => {
  const ranges = Object.entries(locked).map(([path, { engines }]) => [path, engines?.node ?? '*'] as const)
  t.same(
    ranges.filter(([, range]) => !takesOldest(range)),
    [],
  )
  t.notOk(takesOldest('>=22'), 'a newer one is found')
  t.notOk(takesOldest('^18.0.0 || >=20.20'))
  t.ok(takesOldest('^18.17.0 || >=20.5.0'))
  t.end()
})

t.test('an installation is light', (t) => {
  const { dependencies, optionalDependencies } = manifest
  const tree = installed([...Object.keys(dependencies), ...Object.keys(optionalDependencies)])
  // The parser of forms brings 65 of them, its types included.
  t.ok(tree.size <= 181, `${tree.size} packages`)
  const tooling = [...tree].filter((path) => /(^|\/)(eslint|typescript|tap|prettier|jest|mocha)([-/]|$)/.test(path))
  t.same(tooling, [], 'no compiler, linter or test framework')
  t.comment(`${tree.size} packages, ${installed(Object.keys(dependencies)).size} without the optional ones`)
  t.end()
})

t.test('heavy packages are asked for by name, in tested versions', async (t) => {
  for (const { packages } of abilities) {
    for (const [name, range] of Object.entries(packages)) {
      t.equal(manifest.peerDependencies[name], range, name)
      t.match(large[name] ?? manifest.devDependencies[name]?.slice(1), startOf(range), `${name} is in the clone`)
      t.equal(manifest.peerDependenciesMeta[name]?.optional, true)
      t.notOk(name in manifest.optionalDependencies)
    }
  }
  const missing = () => Promise.reject(Object.assign(new Error('Canary7319'), { code: 'MODULE_NOT_FOUND' }))
  await t.rejects(optionalPackage('tesseract.js', missing), {
    name: 'Unconfigured',
    validator: {
      'tesseract.js':
        'Expected to be installed: npm i tesseract.js@^7.0.0 @tesseract.js-data/eng@~1.0 @tesseract.js-data/osd@~1.0',
    },
  })
})

t.test('the commands say and bring what is missing', (t) => {
  const said = (...args: readonly string[]) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
  const { stdout } = said('doctor')
  for (const { name, brings } of abilities) t.match(stdout, new RegExp(`^[✓✗] ${name}: ${brings}`, 'm'))
  t.equal(said('add', 'all', '--dry-run').stdout, `npm install ${specsOf(abilities).join(' ')}\n`)
  t.equal(said('add', 'spreadsheets', '--dry-run').stdout, 'npm install @e965/xlsx@^0.20.3\n')
  t.match(
    said('add', 'ocr', 'deu', 'chi_sim', '--dry-run').stdout,
    / @tesseract\.js-data\/osd@~1\.0 @tesseract\.js-data\/deu@~1\.0 @tesseract\.js-data\/chi_sim@~1\.0\n$/,
  )
  const languages = Object.values(load('tesseract.js/src/constants/languages.js') as Readonly<Record<string, string>>)
  t.ok(languages.length > 100)
  t.equal(said('add', 'ocr', ...languages, '--dry-run').status, 0)
  t.match(said('add', 'deu').stderr, /there is no deu to add/)
  t.match(
    said('add', 'ocr', 'xyz', '--dry-run').stderr,
    /there is no xyz to add; .*, and after ocr languages such as deu/,
  )
  t.match(said('add', 'ocrr').stderr, /there is no ocrr to add; did you mean ocr\?/)
  t.end()
})
