import * as v from 'valibot'

const names = v.optional(v.record(v.string(), v.string()), {})
const flag = v.optional(v.boolean(), false)

/** A package of lock file version 3; fields that the bill does not need are dropped. */
const Locked = v.object({
  name: v.optional(v.string()),
  version: v.string(),
  license: v.optional(v.string()),
  integrity: v.optional(v.pipe(v.string(), v.regex(/^sha512-[0-9A-Za-z+/]{86}==$/))),
  dev: flag,
  devOptional: flag,
  optional: flag,
  peer: flag,
  dependencies: names,
  devDependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
})

const Lock = v.object({ lockfileVersion: v.literal(3), packages: v.record(v.string(), Locked) })

/** A package as the shrinkwrap locks it. */
export type LockedPackage = v.InferOutput<typeof Locked>

/** Packages by their folders; the folder of the root is ''. */
export type Packages = Readonly<Record<string, LockedPackage>>

/** The packages of a shrinkwrap. Throws unless each but the root has an integrity of SHA-512. */
export const readLock = (text: string): Packages => {
  const read = v.safeParse(Lock, JSON.parse(text))
  if (!read.success) throw new Error('npm-shrinkwrap.json has another form')
  const { packages } = read.output
  const open = Object.keys(packages).find((path) => path !== '' && packages[path]!.integrity === undefined)
  if (open !== undefined || packages[''] === undefined)
    throw new Error(`npm-shrinkwrap.json locks no bytes for ${open ?? 'its own package'}`)
  return packages
}

/** The name under which the package is published. An alias is installed under another one. */
export const nameOf = (path: string, { name }: LockedPackage): string => name ?? path.replace(/^.*node_modules\//, '')

/** Folders whose installed package is another one than the shrinkwrap locks. `installed` is what npm keeps of its work. */
export const foreignPackages = (locked: Packages, installed: string): readonly string[] => {
  const there = v.parse(
    v.object({ packages: v.record(v.string(), v.object({ integrity: v.optional(v.string()) })) }),
    JSON.parse(installed),
  )
  return Object.entries(there.packages)
    .filter(([path, { integrity }]) => integrity === undefined || locked[path]?.integrity !== integrity)
    .map(([path]) => path)
}
