import { type LockedPackage, type Packages, nameOf } from './lock.ts'

/** A package of the bill; `needs` are the addresses of others, as `ref` has them. */
interface Component {
  readonly ref: string
  readonly name: string
  readonly locked: LockedPackage
  readonly scope: 'required' | 'optional' | 'excluded'
  readonly needs: readonly string[]
}

/** The address of a package as other tools write it. */
const purlOf = (name: string, version: string): string =>
  `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`

const scopes = ['required', 'optional', 'excluded'] as const

/** Excluded packages build and test; they are never installed with the package. */
const scopeOf = ({ dev, devOptional, optional, peer }: LockedPackage): Component['scope'] =>
  dev ? 'excluded' : devOptional || optional || peer ? 'optional' : 'required'

/** The folder that Node finds for a name, from the folder of the package that needs it; null when it is not locked. */
const foundFrom = (packages: Packages, path: string, name: string): string | null => {
  const place = `${path === '' ? '' : `${path}/`}node_modules/${name}`
  if (packages[place] !== undefined) return place
  if (path === '') return null
  return foundFrom(packages, path.slice(0, Math.max(path.lastIndexOf('/node_modules/'), 0)), name)
}

const componentOf = (packages: Packages, path: string): Component => {
  const locked = packages[path]!
  const refOf = (place: string): string => purlOf(nameOf(place, packages[place]!), packages[place]!.version)
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = locked
  const needs = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies })
    .map((name) => foundFrom(packages, path, name))
    .filter((place) => place !== null)
  const name = nameOf(path, locked)
  return { ref: refOf(path), name, locked, scope: scopeOf(locked), needs: needs.map(refOf) }
}

/** The same package may stand in several folders: one component needs what any of them needs. */
const merged = (one: Component | undefined, other: Component): Component =>
  one === undefined
    ? other
    : {
        ...one,
        scope: scopes.find((scope) => scope === one.scope || scope === other.scope)!,
        needs: [...one.needs, ...other.needs],
      }

/** By code units, so that no locale changes the order of the bill. */
const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** A component in the form of CycloneDX, whose hashes are in hex and not in base64 as npm's. */
const described = ({ ref, name, locked, scope }: Component) => {
  const [group, own] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const { version, license, integrity } = locked
  return {
    type: 'library',
    'bom-ref': ref,
    ...(group !== undefined && { group }),
    name: own,
    version,
    scope,
    ...(integrity !== undefined && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }],
    }),
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    purl: ref,
  }
}

/**
 * The bill of materials of a shrinkwrap, as JSON of CycloneDX 1.6: each package with its name, version, licence, bytes
 * and needs. The same shrinkwrap gives the same text.
 */
export const billOf = (packages: Packages): string => {
  const components = new Map<string, Component>()
  for (const path of Object.keys(packages)) {
    const component = componentOf(packages, path)
    components.set(component.ref, merged(components.get(component.ref), component))
  }
  const root = componentOf(packages, '')
  const sorted = [...components.values()].sort((one, other) => byText(one.ref, other.ref))
  const { scope: _, ...own } = described(root)
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...own, type: 'application' } },
    components: sorted.filter(({ ref }) => ref !== root.ref).map(described),
    dependencies: sorted.map(({ ref, needs }) => ({ ref, dependsOn: [...new Set(needs)].sort(byText) })),
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}
