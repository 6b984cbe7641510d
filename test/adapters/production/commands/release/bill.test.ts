import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import t from 'tap'
import { billOf } from '../../../../../adapters/production/commands/release/bill.ts'
import { foreignPackages, readLock } from '../../../../../adapters/production/commands/release/lock.ts'

interface Component {
  readonly 'bom-ref': string
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly scope: string
  readonly hashes: readonly { readonly content: string }[]
  readonly licenses?: readonly { readonly expression: string }[]
  readonly purl: string
}

interface Bill {
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
}

interface Checks {
  addSchema(schema: object): Checks
  compile(schema: object): ((entry: unknown) => boolean) & { readonly errors: unknown }
}

const require = createRequire(import.meta.url)
// fastify brings the validator along.
const Ajv = require('ajv') as new (options: object) => Checks
const addFormats = (require('ajv-formats') as { default: (to: Checks) => void }).default

const published = async (name: string): Promise<object> => {
  const folder = dirname(require.resolve('@cyclonedx/cyclonedx-library/package.json'))
  return JSON.parse(await readFile(join(folder, 'res/schema', `${name}.SNAPSHOT.schema.json`), 'utf8')) as object
}

/** The format's own schema, with those that it names. */
const schema = async () => {
  // A bill holds no address for mail and none in letters of other scripts.
  const formats = { 'iri-reference': true, 'idn-email': true }
  const checks = new Ajv({ strict: false, allErrors: false, formats })
  addFormats(checks)
  for (const name of ['spdx', 'jsf-0.82'])
    checks.addSchema({ ...(await published(name)), $id: `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json` })
  return checks.compile(await published('bom-1.6'))
}

const shrinkwrap = await readFile('npm-shrinkwrap.json', 'utf8')
const made = (text = shrinkwrap) => JSON.parse(billOf(readLock(text))) as Bill
const idOf = ({ group, name, version }: Component): string =>
  `${group === undefined ? '' : `${group}/`}${name}@${version}`

t.test("a bill of materials holds by CycloneDX's own schema", async (t) => {
  const valid = await schema()
  const bill = made()
  t.ok(valid(bill), JSON.stringify(valid.errors))
  const [first, ...others] = bill.components
  const spoiled = (change: object) => ({ ...bill, components: [{ ...first, ...change }, ...others] })
  t.notOk(valid(spoiled({ scope: 'perhaps' })), 'the schema looks at scopes')
  t.notOk(valid(spoiled({ hashes: [{ alg: 'SHA-512', content: 'xy' }] })), 'at hashes')
  t.notOk(valid(spoiled({ licenses: [{ expression: 'MIT' }, { expression: 'MIT' }] })), 'at licences')
  t.notOk(valid({ ...bill, components: [first, first] }), 'and for components that stand twice')
})

t.test('a bill names what the shrinkwrap locks, as npm itself does', async (t) => {
  const { components, dependencies, metadata } = made()
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const
  const asked = ['sbom', '--package-lock-only', '--include=dev', '--sbom-format=cyclonedx']
  const theirs = JSON.parse(execFileSync('npm', asked, options)) as Bill
  const facts = ({ purl, version, hashes }: Component) => [purl, version, hashes[0]!.content].join(' ')
  t.strictSame(components.map(facts).toSorted(), [...new Set(theirs.components.map(facts))].toSorted())
  t.equal(metadata.component.purl, theirs.metadata.component.purl)
  const without = components.filter(({ licenses }) => licenses === undefined).map(idOf)
  t.strictSame(without, ['jsonc-simple-parser@3.0.0'], 'its licence is in no file of the package')
  const scopes = Object.fromEntries(components.map((component) => [component.name, component.scope]))
  t.match(scopes, { valibot: 'required', unpdf: 'optional', tap: 'excluded', typescript: 'optional' })
  const refs = new Set([metadata.component.purl, ...components.map(({ purl }) => purl)])
  t.strictSame(new Set(dependencies.map(({ ref }) => ref)), refs)
  t.ok(dependencies.every(({ dependsOn = [] }) => dependsOn.every((ref) => refs.has(ref))))
  const purls = new Map(
    [...theirs.components, theirs.metadata.component].map((component) => [component['bom-ref'], component.purl]),
  )
  const needs = new Map<string, string[]>()
  for (const { ref, dependsOn = [] } of theirs.dependencies)
    needs.set(purls.get(ref)!, [...(needs.get(purls.get(ref)!) ?? []), ...dependsOn.map((text) => purls.get(text)!)])
  t.strictSame(
    new Map(dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn.toSorted()])),
    new Map(dependencies.map(({ ref }) => [ref, [...new Set(needs.get(ref))].toSorted()])),
    'and each needs the same',
  )
})

t.test('the same shrinkwrap gives the same bill, and another one gives another', async (t) => {
  t.equal(billOf(readLock(shrinkwrap)), billOf(readLock(JSON.stringify(JSON.parse(shrinkwrap)))))
  const packages = {
    '': { version: '1.0.0' },
    'node_modules/a': { version: '1.0.0', integrity: `sha512-${'A'.repeat(86)}==` },
  }
  const locked = (more: object) =>
    JSON.stringify({
      lockfileVersion: 3,
      packages: { ...packages, 'node_modules/a': { ...packages['node_modules/a'], ...more } },
    })
  t.equal(made(locked({ name: '@b/c' })).components[0]!.purl, 'pkg:npm/%40b/c@1.0.0', 'an alias has its own name')
  t.throws(() => readLock(locked({ integrity: undefined })), /locks no bytes for node_modules\/a/)
  t.throws(() => readLock(locked({ integrity: 'sha1-aaaa' })), /another form/)
  t.throws(() => readLock('{}'), /another form/)
})

t.test('other packages than the locked ones are foreign', async (t) => {
  const lock = readLock(shrinkwrap)
  const [path, { integrity }] = Object.entries(lock).find(([, entry]) => entry.integrity !== undefined)!
  const foreign = (packages: object) => foreignPackages(lock, JSON.stringify({ packages }))
  t.strictSame(foreign({ [path]: { integrity } }), [])
  t.strictSame(foreign({ [path]: { integrity: `${integrity} ` } }), [path])
  t.strictSame(foreign({ [path]: {} }), [path], 'without bytes')
  t.strictSame(foreign({ 'node_modules/elsewhere': { integrity } }), ['node_modules/elsewhere'], 'beside')
  t.strictSame(foreign({ 'node_modules/elsewhere': {} }), ['node_modules/elsewhere'])
})
